package operator

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	eventsv1 "k8s.io/api/events/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kolla.openstack.org/kolla/internal/base/failure"
	"kolla.openstack.org/kolla/internal/base/words"
	"kolla.openstack.org/kolla/internal/operator/v1alpha1"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers/kubernetes"
)

// Clouds reads and changes Clouds for a person.
type Clouds struct {
	client    client.Client
	namespace string // empty: all
}

// Connect finds the cluster as kubectl does. It sends no request.
func Connect(options kubernetes.Options, namespace string) (*Clouds, error) {
	config, err := kubernetes.Config(options)
	if err != nil {
		return nil, err
	}
	scheme, err := Scheme()
	if err != nil {
		return nil, err
	}
	c, err := client.New(config, client.Options{Scheme: scheme, FieldOwner: "kolla"})
	if err != nil {
		return nil, fmt.Errorf("connect to the cluster: %w", err)
	}
	return &Clouds{c, namespace}, nil
}

// All lists the Clouds, by namespace and name.
func (c *Clouds) All(ctx context.Context) ([]v1alpha1.Cloud, error) {
	var list v1alpha1.CloudList
	if err := c.client.List(ctx, &list, client.InNamespace(c.namespace)); err != nil {
		return nil, explained(err)
	}
	slices.SortFunc(list.Items, func(a, b v1alpha1.Cloud) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	return list.Items, nil
}

// explained explains an error of the server.
func explained(err error) error {
	if apimeta.IsNoMatchError(err) {
		return failure.New("This cluster has no operator of kolla", "It does not know the kind Cloud. `kolla operator manifests` prints what installs the operator.")
	}
	return err
}

// Find returns the Cloud with a name. Without a name, there has to be only one.
func (c *Clouds) Find(ctx context.Context, name string) (*v1alpha1.Cloud, error) {
	all, err := c.All(ctx)
	if err != nil {
		return nil, err
	}
	var found []*v1alpha1.Cloud
	var names []string
	for i := range all {
		names = append(names, keyOf(&all[i]))
		if name == "" || all[i].Name == name {
			found = append(found, &all[i])
		}
	}
	where := "in namespace " + c.namespace
	if c.namespace == "" {
		where = "in any namespace"
	}
	switch {
	case len(found) == 1:
		return found[0], nil
	case len(all) == 0:
		return nil, failure.New("There is no Cloud "+where, "-n names another namespace.")
	case len(found) == 0:
		return nil, failure.New(fmt.Sprintf("There is no Cloud %s %s", name, where), words.Known("Cloud", names))
	}
	return nil, failure.New("Which Cloud?", words.Known("Cloud", names)+" Name one of them, and its namespace with -n.")
}

// Plan reads the newest plan of a Cloud, or the one with a number; zero: the newest.
func (c *Clouds) Plan(ctx context.Context, cloud *v1alpha1.Cloud, number int64) (*v1alpha1.CloudPlan, *plans.Plan, error) {
	if number == 0 {
		number = cloud.Status.Plans
	}
	if number == 0 {
		return nil, nil, failure.New(fmt.Sprintf("Cloud %s has no plan yet", cloud.Name), "`kolla operator status` says what the operator does.")
	}
	name := fmt.Sprintf("%s-%d", cloud.Name, number)
	var record v1alpha1.CloudPlan
	err := c.client.Get(ctx, client.ObjectKey{Namespace: cloud.Namespace, Name: name}, &record)
	if apierrors.IsNotFound(err) {
		return nil, nil, failure.New("There is no plan "+name, fmt.Sprintf("The newest one is %s-%d, and the operator keeps %d plans. `kubectl get cloudplans -n %s` lists them.", cloud.Name, cloud.Status.Plans, cloud.Spec.History, cloud.Namespace))
	}
	if err != nil {
		return nil, nil, explained(err)
	}
	data, err := ReadParts(ctx, c.client, cloud.Namespace, record.Spec.Secret)
	if err != nil {
		return nil, nil, err
	}
	plan, err := plans.Read(data[KeyPlan])
	if err != nil {
		return nil, nil, fmt.Errorf("read the plan in Secret %s: %w", record.Spec.Secret, err)
	}
	return &record, plan, nil
}

// Approve allows a plan. It is an error if the Cloud has another plan by now.
func (c *Clouds) Approve(ctx context.Context, cloud *v1alpha1.Cloud, digest string) error {
	err := retry.RetryOnConflict(retry.DefaultRetry, func() error {
		if err := c.client.Get(ctx, client.ObjectKeyFromObject(cloud), cloud); err != nil {
			return err
		}
		if plan := cloud.Status.Plan; plan == nil || plan.Digest != digest {
			return failure.New("Cloud "+cloud.Name+" has another plan by now", "Nothing was approved. `kolla operator plan` shows the new one.")
		}
		before := cloud.DeepCopy()
		cloud.Spec.ApprovedPlan = digest
		return c.client.Patch(ctx, cloud, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}))
	})
	if apierrors.IsConflict(err) {
		return failure.New("Cloud "+cloud.Name+" changes all the time", "Nothing was approved. Try it again.")
	}
	return err
}

// Annotate sets an annotation to the present time: it asks the operator for something.
func (c *Clouds) Annotate(ctx context.Context, cloud *v1alpha1.Cloud, key string) error {
	before := cloud.DeepCopy()
	if cloud.Annotations == nil {
		cloud.Annotations = map[string]string{}
	}
	cloud.Annotations[key] = time.Now().UTC().Format(time.RFC3339Nano)
	return c.client.Patch(ctx, cloud, client.MergeFrom(before))
}

// Suspend sets spec.suspend.
func (c *Clouds) Suspend(ctx context.Context, cloud *v1alpha1.Cloud, suspend bool) error {
	patch, err := json.Marshal(map[string]any{"spec": map[string]any{"suspend": suspend}})
	if err != nil {
		return err
	}
	return c.client.Patch(ctx, cloud, client.RawPatch("application/merge-patch+json", patch))
}

// Event is something that the operator did or found.
type Event struct {
	Time          time.Time
	Level, Reason string
	Count         int32
	Note          string
}

// Events lists the events of a Cloud, the oldest first. The server keeps them for an hour.
func (c *Clouds) Events(ctx context.Context, cloud *v1alpha1.Cloud) ([]Event, error) {
	var list eventsv1.EventList
	if err := c.client.List(ctx, &list, client.InNamespace(cloud.Namespace)); err != nil {
		return nil, explained(err)
	}
	var out []Event
	for i := range list.Items {
		e := &list.Items[i]
		if e.Regarding.UID != cloud.UID {
			continue
		}
		event := Event{e.EventTime.Time, e.Type, e.Reason, 1, e.Note}
		if e.Series != nil {
			event.Time, event.Count = e.Series.LastObservedTime.Time, e.Series.Count
		}
		out = append(out, event)
	}
	slices.SortFunc(out, func(a, b Event) int { return a.Time.Compare(b.Time) })
	return out, nil
}
