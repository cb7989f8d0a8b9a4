package operator

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kolla.openstack.org/kolla/internal/base/failure"
	"kolla.openstack.org/kolla/internal/operator/v1alpha1"
)

// SourceInWords names the place of the configuration of a Cloud.
func SourceInWords(spec v1alpha1.CloudSpec) string {
	at, dir := spec.Source, ""
	if clean := path.Clean(spec.Path); clean != "." {
		dir = "the directory " + clean + " of "
	}
	switch {
	case at.Git != nil && at.Git.Commit != "":
		return dir + "the commit " + at.Git.Commit + " of " + at.Git.URL
	case at.Git != nil && at.Git.Tag != "":
		return dir + "the tag " + at.Git.Tag + " of " + at.Git.URL
	case at.Git != nil:
		return dir + "the " + cmp.Or(prefixed("branch ", at.Git.Branch), "default branch") + " of " + at.Git.URL
	case at.OCI != nil:
		return dir + "the artefact " + at.OCI.URL + cmp.Or(prefixed("@", at.OCI.Digest), ":"+cmp.Or(at.OCI.Tag, "latest"))
	}
	var names []string
	for _, ref := range at.ConfigMaps {
		names = append(names, "ConfigMap "+ref.Name)
	}
	return "the " + strings.Join(names, " and the ")
}

func prefixed(prefix, text string) string {
	if text == "" {
		return ""
	}
	return prefix + text
}

// Edit is a file that differs between a directory and the ConfigMaps of a Cloud.
type Edit struct {
	ConfigMap, File string
	Before, After   string // empty: it is not there
}

// Draft has the ConfigMaps of a Cloud with the files of a directory.
type Draft struct {
	Edits         []Edit
	before, after []*corev1.ConfigMap
}

// Draft compares the ConfigMaps that are the source of a Cloud with the configuration in a directory. Values of
// variables, *.vars.hcl, are compared only if a ConfigMap has the file already: they may be secret.
func (c *Clouds) Draft(ctx context.Context, cloud *v1alpha1.Cloud, dir fs.FS) (*Draft, error) {
	out, known := &Draft{}, map[string]bool{}
	for _, ref := range cloud.Spec.Source.ConfigMaps {
		found := &corev1.ConfigMap{}
		if err := c.client.Get(ctx, client.ObjectKey{Namespace: cloud.Namespace, Name: ref.Name}, found); err != nil {
			return nil, err
		}
		changed := found.DeepCopy()
		for _, name := range slices.Sorted(maps.Keys(found.Data)) {
			known[name] = true
			if err := out.compare(changed, name, dir); err != nil {
				return nil, err
			}
		}
		out.before, out.after = append(out.before, found), append(out.after, changed)
	}
	for _, pattern := range []string{"*.hcl", "*.hcl.json"} {
		names, err := fs.Glob(dir, pattern)
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			if known[name] || !isConfiguration(name) {
				continue
			}
			if err := out.compare(out.after[0], name, dir); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

// isConfiguration reports whether a file of this name is a part of the configuration, if it is there.
func isConfiguration(name string) bool {
	base := strings.TrimSuffix(name, ".json")
	return !strings.HasPrefix(name, ".") && strings.HasSuffix(base, ".hcl") && !strings.HasSuffix(base, ".vars.hcl")
}

// compare brings a file of the directory into a ConfigMap. A file that is not in the directory stays, unless it
// is a part of the configuration.
func (d *Draft) compare(in *corev1.ConfigMap, name string, dir fs.FS) error {
	text, err := fs.ReadFile(dir, name)
	gone := errors.Is(err, fs.ErrNotExist)
	if err != nil && !gone {
		return err
	}
	before, there := in.Data[name]
	if gone && !isConfiguration(name) || there && !gone && before == string(text) {
		return nil
	}
	d.Edits = append(d.Edits, Edit{in.Name, name, before, string(text)})
	if gone {
		delete(in.Data, name)
		return nil
	}
	if in.Data == nil {
		in.Data = map[string]string{}
	}
	in.Data[name] = string(text)
	return nil
}

// Write writes the ConfigMaps that differ. One that somebody changed since the comparison is an error.
func (c *Clouds) Write(ctx context.Context, d *Draft) error {
	for i, changed := range d.after {
		if maps.Equal(d.before[i].Data, changed.Data) {
			continue
		}
		err := c.client.Patch(ctx, changed, client.MergeFromWithOptions(d.before[i], client.MergeFromWithOptimisticLock{}))
		if apierrors.IsConflict(err) {
			return failure.New(fmt.Sprintf("The ConfigMap %s changed meanwhile", changed.Name), "It was not written. Run kolla apply again to see the differences.")
		}
		if err != nil {
			return err
		}
	}
	return nil
}
