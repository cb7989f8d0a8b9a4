package backup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"time"

	"filippo.io/age"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"kolla.openstack.org/kolla/internal/base/failure"
	"kolla.openstack.org/kolla/internal/base/words"
	"kolla.openstack.org/kolla/planner/extract"
	"kolla.openstack.org/kolla/providers"
)

// Cloud is what a backup must fit to.
type Cloud struct {
	Name    string
	Cluster string // UID of the namespace kube-system
	Release string // "2025.1-rocky-9"
}

// Check returns an error if the backup is of another cloud or release, or of another cluster, unless
// elsewhere permits that.
func (m *Manifest) Check(name string, cloud Cloud, elsewhere bool) error {
	const nothing = " Nothing was changed."
	switch {
	case m.Cloud != cloud.Name:
		return failure.New("The backup is of another cloud", fmt.Sprintf("Backup %s is of cloud %q, and this one is %q.", name, m.Cloud, cloud.Name)+nothing)
	case m.Cluster != cloud.Cluster && !elsewhere:
		return failure.New("The backup is of another cluster", fmt.Sprintf("Backup %s is of a cloud of the same name in another cluster. If this cluster takes its place and has its Secrets, add -other-cluster.", name)+nothing)
	case m.Release != cloud.Release:
		return failure.New("The backup is of another release", fmt.Sprintf("Backup %s is of %s, and the cloud runs %s: services do not know the schema of another release. Set `release` and `distro` to those of the backup and apply them first, or use another backup.", name, m.Release, cloud.Release)+nothing)
	}
	return nil
}

// Restore brings the data of workloads back.
type Restore struct {
	Name     string
	Manifest *Manifest
	Parts    []*Part

	cluster    *Cluster
	target     Target
	identities []age.Identity
}

// Part is the restore of one workload.
type Part struct {
	Workload
	Item    Item
	Members int // number of pods
	// pod runs the commands; own has the pods that were made for them, by the ordinals of the
	// workload's pods.
	pod types.NamespacedName
	own []types.NamespacedName
}

// Plan prepares a restore of the workloads that the backup has. It checks the key, and reads only.
func Plan(ctx context.Context, c *Cluster, target Target, name string, m *Manifest, workloads []Workload, identities []age.Identity) (*Restore, error) {
	r := &Restore{Name: name, Manifest: m, cluster: c, target: target, identities: identities}
	for _, w := range workloads {
		i := slices.IndexFunc(m.Items, func(item Item) bool { return item.Address == w.Address })
		if i < 0 {
			continue
		}
		p := &Part{Item: m.Items[i], Workload: w, Members: w.replicas()}
		if p.Members == 0 {
			return nil, failure.New(p.Address+" has no pods", "Something has scaled it to zero, such as a restore that was interrupted. Run kolla apply first, which starts it. Nothing was changed.")
		}
		if policy, _, _ := unstructured.NestedString(w.Live.Object, "spec", "persistentVolumeClaimRetentionPolicy", "whenScaled"); policy == "Delete" {
			return nil, failure.New(p.Address+" deletes its volumes when it stops", "Somebody has set persistentVolumeClaimRetentionPolicy.whenScaled to Delete. Take that away first. Nothing was changed.")
		}
		data, err := Open(ctx, target, name, p.Item, identities)
		if err != nil {
			return nil, err
		}
		if err := data.Close(); err != nil {
			return nil, err
		}
		r.Parts = append(r.Parts, p)
	}
	if len(r.Parts) == 0 {
		return nil, failure.New("The backup has nothing to restore here", fmt.Sprintf("Backup %s has no data of the chosen services. `kolla backup list -json` shows what it has.", name))
	}
	return r, nil
}

// Stage brings the data of all parts into the cluster, checks them, and puts them aside. It changes
// nothing that a service uses. The caller must call Close.
func (r *Restore) Stage(ctx context.Context) error {
	for _, p := range r.Parts {
		if err := r.stage(ctx, p); err != nil {
			return fmt.Errorf("stage the %s of %s: %w", p.Item.What, p.Address, err)
		}
	}
	return nil
}

func (r *Restore) stage(ctx context.Context, p *Part) (err error) {
	c := r.cluster
	container := p.Backup.Container
	if p.Backup.Offline {
		container = mainContainer
		err = c.startMembers(ctx, p)
	} else {
		p.pod, err = c.readyPod(ctx, p.Workload)
	}
	if err != nil {
		return err
	}
	data, err := Open(ctx, r.target, r.Name, p.Item, r.identities)
	if err != nil {
		return err
	}
	defer func() { _ = data.Close() }()
	c.say(p.Address, "staging %s of data in pod %s", Bytes(p.Item.Unpacked), p.pod.Name)
	began := time.Now()
	command := append(slices.Clone(p.Backup.Stage), strconv.FormatInt(p.Item.Unpacked, 10))
	if err := send(ctx, c.Shell, p.pod, container, command, data); err != nil {
		return err
	}
	// A command may succeed without reading everything. The end of the data has their checksum.
	if _, err := io.Copy(io.Discard, data); err != nil {
		return err
	}
	c.say(p.Address, "staged after %s", words.Duration(time.Since(began)))
	return nil
}

// startMembers starts a pod for each pod of a workload, with its claims.
func (c *Cluster) startMembers(ctx context.Context, p *Part) error {
	pods, err := c.Shell.Pods(ctx, p.Live)
	if err != nil {
		return err
	}
	templates, _, _ := unstructured.NestedSlice(p.Live.Object, "spec", "volumeClaimTemplates")
	for i := range p.Members {
		pod := dataPod{name: fmt.Sprintf("%s-restore-%d", p.Live.GetName(), i), like: p.Workload, claims: map[string]string{}}
		member := fmt.Sprintf("%s-%d", p.Live.GetName(), i)
		for _, item := range templates {
			template, _ := item.(map[string]any)
			volume, _, _ := unstructured.NestedString(template, "metadata", "name")
			pod.claims[volume] = volume + "-" + member
		}
		// A volume may be mountable on the node of the member only.
		if at := slices.IndexFunc(pods, func(p providers.Pod) bool { return p.Name == member && !p.Down }); at >= 0 {
			pod.node = pods[at].Node
		}
		name, err := c.start(ctx, pod)
		if err != nil {
			return err
		}
		p.own = append(p.own, name)
	}
	p.pod = p.own[0]
	return nil
}

// Commit puts the staged data of all parts into use. After an error, some parts may be as before.
func (r *Restore) Commit(ctx context.Context) error {
	for _, p := range r.Parts {
		if err := providers.CheckFence(ctx); err != nil {
			return err
		}
		if err := r.commit(ctx, p); err != nil {
			return err
		}
	}
	return nil
}

func (r *Restore) commit(ctx context.Context, p *Part) error {
	c, address := r.cluster, p.Address
	if !p.Backup.Offline {
		if err := c.Shell.Stream(ctx, p.pod, p.Backup.Container, p.Backup.Restore, nil, io.Discard); err != nil {
			return fmt.Errorf("restore the %s of %s: %w", p.Item.What, address, err)
		}
		c.say(address, "restored %s", p.Item.What)
		return nil
	}
	stopped := func(err error) error {
		return failure.With(err, fmt.Sprintf("The %s of %s are not restored", p.Item.What, address),
			fmt.Sprintf("%s. Its pods are stopped, and kolla apply starts them. If the data are the old ones then, run kolla restore again.", failure.Sentence(err.Error())))
	}
	c.say(address, "stopping")
	steady := context.WithoutCancel(ctx) // Ctrl-C must not leave it stopped
	if err := c.scale(steady, p, 0); err != nil {
		return err
	}
	if err := c.awaitEnd(steady, p); err != nil {
		return stopped(err)
	}
	for _, pod := range p.own {
		if err := c.Shell.Stream(steady, pod, mainContainer, p.Backup.Restore, nil, io.Discard); err != nil {
			return stopped(err)
		}
	}
	if err := r.removePods(steady, p); err != nil {
		return stopped(err)
	}
	c.say(address, "starting with the restored %s", p.Item.What)
	if err := c.scale(steady, p, p.Members); err != nil {
		return stopped(err)
	}
	limited, cancel := context.WithTimeout(ctx, c.Timeout)
	defer cancel()
	began := time.Now()
	if err := c.Writer.Wait(limited, providers.RefOf(p.Live), providers.WaitOptions{Report: func(status string) { c.waits(address, "", status) }}); err != nil {
		return fmt.Errorf("start %s with the restored %s: %w", address, p.Item.What, err)
	}
	c.say(address, "ready after %s", words.Duration(time.Since(began)))
	return nil
}

// scale sets the number of pods of a workload. kolla stays the owner of its fields.
func (c *Cluster) scale(ctx context.Context, p *Part, replicas int) error {
	fields := extract.Managed(p.Live.Object, func(e extract.Entry) bool {
		return e.Manager == providers.FieldManager && e.Operation == "Apply" && e.Subresource == ""
	})
	everything := extract.Mask{Sensitive: func([]string) bool { return false }, Unknown: func([]string, any) bool { return false }}
	object := &unstructured.Unstructured{Object: everything.Take(p.Live.Object, fields).Values}
	object.SetGroupVersionKind(p.Live.GroupVersionKind())
	object.SetNamespace(p.Live.GetNamespace())
	object.SetName(p.Live.GetName())
	if err := unstructured.SetNestedField(object.Object, int64(replicas), "spec", "replicas"); err != nil {
		return err
	}
	live, err := c.Writer.Apply(ctx, object, providers.ApplyOptions{Force: true, Precondition: providers.Precondition{UID: p.Live.GetUID()}})
	if err != nil {
		return err
	}
	p.Live = live
	return c.Wrote(p.Address)
}

// awaitEnd waits until a workload has no pod any more.
func (c *Cluster) awaitEnd(ctx context.Context, p *Part) error {
	ctx, cancel := context.WithTimeout(ctx, c.Timeout)
	defer cancel()
	for {
		pods, err := c.Shell.Pods(ctx, p.Live)
		if err == nil && len(pods) == 0 {
			return nil
		}
		select {
		case <-time.After(time.Second):
		case <-ctx.Done():
			if err != nil || len(pods) == 0 {
				return errors.Join(ctx.Err(), err)
			}
			return fmt.Errorf("pod %s has not ended within %s; its node is %s", pods[0].Name, c.Timeout, pods[0].Node)
		}
	}
}

// removePods deletes the pods that were made for a part.
func (r *Restore) removePods(ctx context.Context, p *Part) error {
	var failed error
	for _, pod := range p.own {
		failed = errors.Join(failed, r.cluster.remove(ctx, pod))
	}
	p.own = nil
	return failed
}

// Close deletes the pods that were made.
func (r *Restore) Close(ctx context.Context) error {
	var failed error
	for _, p := range r.Parts {
		failed = errors.Join(failed, r.removePods(ctx, p))
	}
	return failed
}
