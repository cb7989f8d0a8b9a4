package operator

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kolla.openstack.org/kolla/internal/operator/source"
	"kolla.openstack.org/kolla/internal/operator/v1alpha1"
	"kolla.openstack.org/kolla/lang"
)

// input is everything that a configuration is evaluated from.
type input struct {
	tree *source.Tree
	variables
	about
}

// inForce reports whether an input that was kept says what the cluster has to be: this version of kolla
// applied all of it, but for services that are still held back.
func (i *input) inForce(tool string, holds []string) bool {
	return i != nil && i.Tool == tool && i.Complete && !slices.ContainsFunc(i.Held, func(service string) bool { return !slices.Contains(holds, service) })
}

// variables are values of variables of a configuration.
type variables struct {
	// Given are those of spec.variables: the configuration has to declare them.
	Given map[string]string `json:"given,omitempty"`
	// Found are those of ConfigMaps and Secrets, which may have other keys.
	Found map[string]string `json:"found,omitempty"`
}

// options returns the values in the order in which a configuration takes them.
func (v variables) options() (given []lang.Var, environ []string) {
	for _, name := range slices.Sorted(maps.Keys(v.Given)) {
		given = append(given, lang.Var{Assignment: name + "=" + v.Given[name]})
	}
	for _, name := range slices.Sorted(maps.Keys(v.Found)) {
		environ = append(environ, "KOLLA_VAR_"+name+"="+v.Found[name])
	}
	return given, environ
}

// same reports whether two inputs give the same configuration.
func (i *input) same(other *input) bool {
	return other != nil && i.Tool == other.Tool && i.Path == other.Path && i.tree.Sum() == other.tree.Sum() &&
		maps.Equal(i.Given, other.Given) && maps.Equal(i.Found, other.Found)
}

// objects reads the ConfigMaps and Secrets that a Cloud names, in its namespace.
type objects struct {
	client    client.Reader
	namespace string
}

var _ source.Cluster = objects{}

// ConfigMap is part of source.Cluster.
func (o objects) ConfigMap(ctx context.Context, name string) (map[string][]byte, error) {
	data, _, err := o.data(ctx, "ConfigMap", name)
	return data, err
}

// Secret is part of source.Cluster.
func (o objects) Secret(ctx context.Context, name string) (map[string][]byte, error) {
	data, _, err := o.data(ctx, "Secret", name)
	return data, err
}

// data returns the data of a ConfigMap or Secret, text and binary, and the version of the object.
func (o objects) data(ctx context.Context, kind, name string) (data map[string][]byte, version string, err error) {
	if kind == "Secret" {
		var found corev1.Secret
		err := o.get(ctx, kind, name, &found)
		return found.Data, found.ResourceVersion, err
	}
	var found corev1.ConfigMap
	if err := o.get(ctx, kind, name, &found); err != nil {
		return nil, "", err
	}
	data = map[string][]byte{}
	for key, value := range found.Data {
		data[key] = []byte(value)
	}
	maps.Copy(data, found.BinaryData)
	return data, found.ResourceVersion, nil
}

func (o objects) get(ctx context.Context, kind, name string, into client.Object) error {
	err := o.client.Get(ctx, client.ObjectKey{Namespace: o.namespace, Name: name}, into)
	switch {
	case apierrors.IsNotFound(err):
		return fmt.Errorf("there is no %s %s in namespace %s", kind, name, o.namespace)
	case err != nil:
		return fmt.Errorf("read %s %s in namespace %s: %w", kind, name, o.namespace, err)
	}
	return nil
}

// variablesOf reads the variables of a Cloud, and returns the versions of the objects that have them.
func variablesOf(ctx context.Context, spec v1alpha1.CloudSpec, from objects) (out variables, origins []string, err error) {
	out = variables{Given: map[string]string{}, Found: map[string]string{}}
	for _, s := range spec.VariablesFrom {
		kind, ref := "ConfigMap", s.ConfigMap
		if s.Secret != nil {
			kind, ref = "Secret", s.Secret
		}
		data, version, err := from.data(ctx, kind, ref.Name)
		if err != nil {
			return out, nil, err
		}
		origins = append(origins, fmt.Sprintf("%s %s@%s", kind, ref.Name, version))
		for name, value := range data {
			out.Found[name] = strings.TrimSuffix(string(value), "\n")
		}
	}
	for name, value := range spec.Variables {
		text, err := textOf(value)
		if err != nil {
			return out, nil, fmt.Errorf("spec.variables[%q]: %w", name, err)
		}
		out.Given[name] = text
	}
	return out, origins, nil
}

// textOf returns a value as -var takes it: text as it is, everything else as an expression.
func textOf(value apiextensionsv1.JSON) (string, error) {
	var text string
	if json.Unmarshal(value.Raw, &text) == nil {
		return text, nil
	}
	if !json.Valid(value.Raw) {
		return "", errors.New("not a value")
	}
	// In HCL, ${ and %{ in a string begin a template.
	return strings.NewReplacer("${", "$${", "%{", "%%{").Replace(string(value.Raw)), nil
}

// Keys of the Secret with the input that was applied last.
const (
	keySource    = "source"
	keyVariables = "variables"
	keyAbout     = "about"
)

// about describes an input, also a kept one.
type about struct {
	Revision string `json:"revision"` // of the tree
	// Tool is the version of kolla, whose catalogue has the definitions of services.
	Tool string `json:"tool"`
	Path string `json:"path,omitempty"`
	// Held are the services that were held back when it was applied; see keep.
	Held []string `json:"held,omitempty"`
	// Origins are the versions of the ConfigMaps and Secrets with the variables.
	Origins []string `json:"origins,omitempty"`
	// Complete: its last apply was.
	Complete bool `json:"complete,omitempty"`
}

// keptName is the name of the Secret with the input that was applied last with success.
func keptName(cloud string) string { return cloud + "-applied" }

// keep stores the input that was applied, so that drift is found and put back also while the source
// is out of reach or has other changes.
//
// It is kept before its apply begins, too: then it is not complete, and nothing puts the cluster back to the
// one before.
func (r *Reconciler) keep(ctx context.Context, cloud *v1alpha1.Cloud, l *look, complete bool) error {
	in, held := l.input, l.options.Selection.Excludes
	if complete {
		cloud.Status.Source.Applied = in.tree.Revision
	}
	before := r.kept(ctx, cloud)
	if in.same(before) && before.tree.Revision == in.tree.Revision && before.Complete == complete && slices.Equal(before.Held, held) && slices.Equal(before.Origins, in.Origins) {
		return nil
	}
	values, err := json.Marshal(in.variables)
	if err != nil {
		return fmt.Errorf("keep the variables: %w", err)
	}
	more, err := json.Marshal(about{in.tree.Revision, in.Tool, in.Path, held, in.Origins, complete})
	if err != nil {
		return fmt.Errorf("keep the source: %w", err)
	}
	return r.putParts(ctx, cloud, cloud, keptName(cloud.Name), map[string][]byte{keySource: in.tree.Archive(), keyVariables: values, keyAbout: more})
}

// kept returns the input that was applied last; nil: there is none, or it cannot be read.
func (r *Reconciler) kept(ctx context.Context, cloud *v1alpha1.Cloud) *input {
	data, err := ReadParts(ctx, r.Reader, cloud.Namespace, keptName(cloud.Name))
	if err == nil && data == nil {
		return nil
	}
	out := &input{}
	if err == nil {
		err = errors.Join(json.Unmarshal(data[keyAbout], &out.about), json.Unmarshal(data[keyVariables], &out.variables))
	}
	if err == nil {
		out.tree, err = source.Open(data[keySource], out.Revision)
	}
	if err != nil {
		r.Log.Warn("the configuration that was applied last cannot be read", "cloud", keyOf(cloud), "secret", keptName(cloud.Name))
		return nil
	}
	return out
}
