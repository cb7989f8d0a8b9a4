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
	// tool is the version of kolla, whose catalogue has the definitions of services.
	tool string
	path string
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
	return other != nil && i.tool == other.tool && i.path == other.path && i.tree.Sum() == other.tree.Sum() &&
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
	var found corev1.ConfigMap
	if err := o.get(ctx, "ConfigMap", name, &found); err != nil {
		return nil, err
	}
	out := map[string][]byte{}
	for key, value := range found.Data {
		out[key] = []byte(value)
	}
	maps.Copy(out, found.BinaryData)
	return out, nil
}

// Secret is part of source.Cluster.
func (o objects) Secret(ctx context.Context, name string) (map[string][]byte, error) {
	var found corev1.Secret
	if err := o.get(ctx, "Secret", name, &found); err != nil {
		return nil, err
	}
	return found.Data, nil
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

// variablesOf reads the variables of a Cloud.
func variablesOf(ctx context.Context, spec v1alpha1.CloudSpec, from source.Cluster) (variables, error) {
	out := variables{Given: map[string]string{}, Found: map[string]string{}}
	for _, s := range spec.VariablesFrom {
		var data map[string][]byte
		var err error
		switch {
		case s.ConfigMap != nil:
			data, err = from.ConfigMap(ctx, s.ConfigMap.Name)
		case s.Secret != nil:
			data, err = from.Secret(ctx, s.Secret.Name)
		}
		if err != nil {
			return out, err
		}
		for name, value := range data {
			out.Found[name] = strings.TrimSuffix(string(value), "\n")
		}
	}
	for name, value := range spec.Variables {
		text, err := textOf(value)
		if err != nil {
			return out, fmt.Errorf("spec.variables[%q]: %w", name, err)
		}
		out.Given[name] = text
	}
	return out, nil
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

// about describes a kept input.
type about struct {
	Revision string `json:"revision"`
	Tool     string `json:"tool"`
	Path     string `json:"path,omitempty"`
}

// keptName is the name of the Secret with the input that was applied last with success.
func keptName(cloud string) string { return cloud + "-applied" }

// keep stores the input that was applied, so that drift is found and put back also while the source
// is out of reach or has other changes.
func (r *Reconciler) keep(ctx context.Context, cloud *v1alpha1.Cloud, in *input) error {
	values, err := json.Marshal(in.variables)
	if err != nil {
		return fmt.Errorf("keep the variables: %w", err)
	}
	more, err := json.Marshal(about{in.tree.Revision, in.tool, in.path})
	if err != nil {
		return fmt.Errorf("keep the source: %w", err)
	}
	_, err = r.putParts(ctx, cloud, cloud, keptName(cloud.Name), map[string][]byte{keySource: in.tree.Archive(), keyVariables: values, keyAbout: more})
	return err
}

// kept returns the input that was applied last; nil: none.
func (r *Reconciler) kept(ctx context.Context, cloud *v1alpha1.Cloud) (*input, error) {
	data, err := ReadParts(ctx, r.Reader, cloud.Namespace, keptName(cloud.Name))
	if err != nil || data == nil {
		return nil, err
	}
	var more about
	out := &input{}
	if err := json.Unmarshal(data[keyAbout], &more); err != nil {
		return nil, fmt.Errorf("read Secret %s: %w", keptName(cloud.Name), err)
	}
	if err := json.Unmarshal(data[keyVariables], &out.variables); err != nil {
		return nil, fmt.Errorf("read Secret %s: its variables cannot be read", keptName(cloud.Name))
	}
	out.tool, out.path = more.Tool, more.Path
	if out.tree, err = source.Open(data[keySource], more.Revision); err != nil {
		return nil, err
	}
	return out, nil
}
