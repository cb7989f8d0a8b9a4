package dryrun

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kolla.openstack.org/kolla/providers/kinds"
)

// surrogate is a copy of an object for a dry run, with a name that no object has, in a
// namespace that exists.
type surrogate struct {
	object          *unstructured.Unstructured
	name, namespace string // of the real one
}

// surrogateLength is the least length of a throw-away name. It is long enough to be unique,
// and within every limit on names.
const surrogateLength = 20

// newSurrogate makes a surrogate in a namespace; empty: its kind has no namespaces.
func newSurrogate(object *unstructured.Unstructured, namespace string) (*surrogate, error) {
	if kind := object.GroupVersionKind().GroupKind(); kinds.Defines(kind) {
		return nil, fmt.Errorf("a %s is valid under its own name only", kind.Kind)
	}
	s := &surrogate{object: object.DeepCopy(), name: object.GetName(), namespace: object.GetNamespace()}
	s.object.SetName(throwAwayName(s.name))
	s.object.SetNamespace(namespace)
	return s, nil
}

// throwAwayName makes a random name that is valid exactly if the given name is. Letters stay
// letters, digits stay digits, and other characters are kept. The length is kept, except
// that short names grow.
func throwAwayName(name string) string {
	const (
		lower  = "abcdefghijklmnopqrstuvwxyz"
		upper  = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
		digits = "0123456789"
	)
	pick := func(from string) byte { return from[rand.IntN(len(from))] }
	out := []byte(name)
	for i, char := range out {
		switch {
		case char >= 'a' && char <= 'z':
			out[i] = pick(lower)
		case char >= 'A' && char <= 'Z':
			out[i] = pick(upper)
		case char >= '0' && char <= '9':
			out[i] = pick(digits)
		}
	}
	for len(out) < surrogateLength {
		out = append(out, pick(lower))
	}
	return string(out)
}

// restore puts the real name and namespace into the server's answer. It also replaces the
// throw-away name where it is the whole value of another field, such as a label. Values that
// only contain it are left alone.
func (s *surrogate) restore(answer *unstructured.Unstructured) *unstructured.Unstructured {
	answer = answer.DeepCopy()
	answer.Object = s.replace(answer.Object).(map[string]any)
	answer.SetNamespace(s.namespace)
	return answer
}

func (s *surrogate) replace(value any) any {
	switch value := value.(type) {
	case map[string]any:
		for key, item := range value {
			value[key] = s.replace(item)
		}
	case []any:
		for i, item := range value {
			value[i] = s.replace(item)
		}
	case string:
		if value == s.object.GetName() {
			return s.name
		}
	}
	return value
}

// restoreError puts the real name into an error of the server.
func (s *surrogate) restoreError(err error) error {
	var status *apierrors.StatusError
	if !errors.As(err, &status) {
		return err
	}
	named := func(text string) string { return strings.ReplaceAll(text, s.object.GetName(), s.name) }
	answer := status.ErrStatus.DeepCopy()
	answer.Message = named(answer.Message)
	if answer.Details != nil {
		answer.Details.Name = named(answer.Details.Name)
		for i := range answer.Details.Causes {
			answer.Details.Causes[i].Message = named(answer.Details.Causes[i].Message)
		}
	}
	return &apierrors.StatusError{ErrStatus: *answer}
}
