package operator

import (
	"context"
	"errors"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// creator is a client that only creates, and gets an error for that.
type creator struct {
	client.Client
	err error
}

func (c creator) Create(_ context.Context, _ client.Object, options ...client.CreateOption) error {
	if len(options) != 1 || options[0] != client.DryRunAll {
		return errors.New("it is no dry run")
	}
	return c.err
}

// TestUndefined checks that only a clear answer of the server says that the kind of Clouds stays: without one, a cloud
// would be destroyed by mistake.
func TestUndefined(t *testing.T) {
	resource := schema.GroupResource{Group: "kolla.openstack.org", Resource: "clouds"}
	const ends = "create not allowed while custom resource definition is terminating"
	older := apierrors.NewMethodNotSupported(resource, "create")
	older.ErrStatus.Message = ends
	for name, test := range map[string]struct {
		err             error
		undefined, fail bool
	}{
		"it would be made":         {nil, false, false},
		"it lacks fields":          {apierrors.NewInvalid(schema.GroupKind{Kind: "Cloud"}, "", nil), false, false},
		"the kind goes":            {apierrors.NewForbidden(resource, "prod", errors.New(ends)), true, false},
		"the kind goes, as before": {older, true, false},
		"no right":                 {apierrors.NewForbidden(resource, "prod", errors.New("no")), false, true},
		"no answer":                {errors.New("connection refused"), false, true},
		"too many requests":        {apierrors.NewTooManyRequests("later", 1), false, true},
	} {
		t.Run(name, func(t *testing.T) {
			r := &Reconciler{Client: creator{err: test.err}}
			undefined, err := r.undefined(t.Context(), "kolla")
			if undefined != test.undefined || err != nil != test.fail {
				t.Errorf("got %v, %v", undefined, err)
			}
		})
	}
}
