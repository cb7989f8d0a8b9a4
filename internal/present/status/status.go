// Package status says how the workloads of a cloud are: pods, images, restarts, and why some are
// not ready. [Of] looks at the cluster; the result is a [Look].
package status

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"kolla.openstack.org/kolla/internal/base/words"
	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/kinds"
	"kolla.openstack.org/kolla/state"
)

// Look is the result of one look at the cluster. It has no secret values.
type Look struct {
	Cloud, Server string
	// Namespace and Release are those of the cloud's namespace: "openstack", "2025.1-rocky-9".
	// They are empty if the state has no namespace, or if it has no such annotation.
	Namespace, Release string
	Services           []Service // sorted by address
}

// Service is a block with workloads.
type Service struct {
	Address string // "service.nova"
	// Public are the addresses for clients outside of the cluster: "cloud.example.org:5000
	// (192.0.2.10)", "http://keystone.cloud.example.org".
	Public []string
	// Workloads are the Deployments, StatefulSets and DaemonSets, the Jobs that are not complete,
	// and the ways in that do not work yet (see providers.IsWayIn). They are sorted by address.
	Workloads []Workload
}

// Ready reports whether all workloads of the service are ready.
func (s Service) Ready() bool {
	return !slices.ContainsFunc(s.Workloads, func(w Workload) bool { return !w.Ready })
}

// Workload is one object with pods, or a way in.
type Workload struct {
	Address   addrs.Object
	Namespace string
	// Stage is the stage of an upgrade in which the workload changes; empty: not known.
	Stage string
	providers.Health
	// Pods counts the pods; nil for a Job, for a way in and for an object that is not in the cluster.
	Pods     *Pods
	Images   []Image // of the pods, sorted
	Restarts int     // of all containers of the pods
}

// Pods counts the pods of a workload.
type Pods struct {
	Ready   int `json:"ready"`
	Desired int `json:"desired"`
}

// Count returns the ready and the desired pods: "2/3". It is "-" if they are not counted.
func (w Workload) Count() string {
	if w.Pods == nil {
		return "-"
	}
	return fmt.Sprintf("%d/%d", w.Pods.Ready, w.Pods.Desired)
}

// Workloads returns the number of workloads, and how many of them are not ready.
func (l *Look) Workloads() (all, unready int) {
	for _, s := range l.Services {
		for _, w := range s.Workloads {
			all++
			if !w.Ready {
				unready++
			}
		}
	}
	return all, unready
}

// Summary says how many workloads are ready, in one sentence.
func (l *Look) Summary() string {
	all, unready := l.Workloads()
	switch {
	case unready == 0:
		return words.Count(all, "workload") + ", all ready."
	case unready == 1:
		return fmt.Sprintf("1 of %s is not ready.", words.Count(all, "workload"))
	}
	return fmt.Sprintf("%d of %s are not ready.", unready, words.Count(all, "workload"))
}

// Inspector reads the workloads of a snapshot.
type Inspector interface {
	// Health assesses a workload, or a way in.
	Health(ctx context.Context, workload *unstructured.Unstructured) (providers.Health, error)
	// PodsOf lists the pods of a workload.
	PodsOf(ctx context.Context, workload *unstructured.Unstructured) ([]*corev1.Pod, error)
}

var (
	podKind       = kinds.Pod.WithVersion("v1")
	namespaceKind = kinds.Namespace.WithVersion("v1")
)

// IsWorkload reports whether an object of the state has pods that a Look shows.
func IsWorkload(o *state.Object) bool {
	kind := schema.FromAPIVersionAndKind(o.APIVersion, o.Kind).GroupKind()
	return slices.Contains([]schema.GroupKind{kinds.Deployment, kinds.StatefulSet, kinds.DaemonSet, kinds.Job}, kind)
}

// bringsClients reports whether clients outside may come in through an object of the state, or by the
// certificate that it asks for.
func bringsClients(o *state.Object) bool {
	return slices.Contains([]schema.GroupKind{kinds.Service, kinds.Ingress, kinds.HTTPRoute, kinds.Certificate}, refOf(o).GVK.GroupKind())
}

// Of looks at objects of a state: its workloads, and the objects that bring in clients. It lists each
// kind once in each namespace.
func Of(ctx context.Context, st *state.State, objects []*state.Object, snapshot *providers.Snapshot, inspector Inspector) (*Look, error) {
	look := &Look{Cloud: st.Cloud, Server: st.Cluster.Server}
	scopes := []providers.Scope{{GVK: namespaceKind}}
	for _, o := range objects {
		if IsWorkload(o) || bringsClients(o) {
			scopes = append(scopes, providers.Scope{GVK: refOf(o).GVK, Namespace: o.Namespace}, providers.Scope{GVK: podKind, Namespace: o.Namespace})
		}
	}
	if err := snapshot.Load(ctx, scopes...); err != nil {
		return nil, err
	}
	look.place(st, snapshot)
	for _, o := range objects {
		address, err := addrs.ParseObject(o.Address)
		if err != nil {
			return nil, fmt.Errorf("read the state: %w", err)
		}
		live := snapshot.Get(refOf(o))
		switch {
		case IsWorkload(o):
			service := look.service(address.Block)
			w, err := workload(ctx, o, live, inspector)
			if err != nil {
				return nil, err
			}
			if w != nil {
				w.Address, w.Stage = address, o.Stage
				service.Workloads = append(service.Workloads, *w)
			}
		case live != nil:
			if err := look.addWayIn(ctx, address, live, inspector); err != nil {
				return nil, err
			}
		}
	}
	return look, nil
}

// addWayIn adds the public addresses of an object, and the object itself if it is a way in that does
// not work yet. Other objects are ignored.
func (l *Look) addWayIn(ctx context.Context, address addrs.Object, live *unstructured.Unstructured, inspector Inspector) error {
	if live.GetAnnotations()[providers.AnnotationPublic] != "" {
		service := l.service(address.Block)
		service.Public = append(service.Public, public(live)...)
	}
	if !providers.IsWayIn(live) {
		return nil
	}
	health, err := inspector.Health(ctx, live)
	if err != nil || health.Ready {
		return err
	}
	service := l.service(address.Block)
	service.Workloads = append(service.Workloads, Workload{Address: address, Namespace: live.GetNamespace(), Health: health})
	return nil
}

// place finds the cloud's namespace, and the release that it names.
func (l *Look) place(st *state.State, snapshot *providers.Snapshot) {
	for i := range st.Objects {
		o := &st.Objects[i]
		if o.Kind == kinds.Namespace.Kind && addrs.TypeOf(strings.TrimSuffix(o.Address, "/"+o.Kind+"/"+o.Name)) == "cloud" {
			l.Namespace = o.Name
			if live := snapshot.Get(refOf(o)); live != nil {
				l.Release = live.GetAnnotations()[providers.AnnotationRelease]
			}
		}
	}
}

// service returns the service with an address, and adds it if it is new.
func (l *Look) service(address string) *Service {
	i := slices.IndexFunc(l.Services, func(s Service) bool { return s.Address == address })
	if i < 0 {
		i = len(l.Services)
		l.Services = append(l.Services, Service{Address: address})
	}
	return &l.Services[i]
}

func refOf(o *state.Object) providers.Ref {
	return providers.Ref{GVK: schema.FromAPIVersionAndKind(o.APIVersion, o.Kind), Namespace: o.Namespace, Name: o.Name}
}

// workload returns the row of a workload. It is nil for a Job that is complete, and for an object
// that is gone after its deletion was begun.
func workload(ctx context.Context, o *state.Object, live *unstructured.Unstructured, inspector Inspector) (*Workload, error) {
	isJob := o.Kind == kinds.Job.Kind
	w := &Workload{Namespace: o.Namespace}
	switch {
	case live == nil && (isJob && o.Ready || o.Deleting):
		return nil, nil
	case live == nil:
		w.Reason = "it is not in the cluster"
		return w, nil
	case o.UID != "" && string(live.GetUID()) != o.UID:
		w.Reason = "others replaced it by another object of this name"
		return w, nil
	}
	var err error
	if w.Health, err = inspector.Health(ctx, live); err != nil || isJob && w.Ready {
		return nil, err
	}
	pods, err := inspector.PodsOf(ctx, live)
	if err != nil {
		return nil, err
	}
	w.Images, w.Restarts = images(pods), restarts(pods)
	if !isJob {
		w.Pods = count(live)
	}
	return w, nil
}

// count reads the numbers of pods that the controller of a workload reports.
func count(live *unstructured.Unstructured) *Pods {
	number := func(otherwise int64, path ...string) int {
		if n, ok, err := unstructured.NestedInt64(live.Object, path...); ok && err == nil {
			return int(n)
		}
		return int(otherwise)
	}
	if live.GetKind() == kinds.DaemonSet.Kind {
		return &Pods{number(0, "status", "numberReady"), number(0, "status", "desiredNumberScheduled")}
	}
	return &Pods{number(0, "status", "readyReplicas"), number(1, "spec", "replicas")}
}

func restarts(pods []*corev1.Pod) (n int) {
	for _, pod := range pods {
		for _, status := range slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses) {
			n += int(status.RestartCount)
		}
	}
	return n
}

// public returns the public addresses of an object: the URLs of an Ingress or a route, or host:port
// for each port of a Service, and the address of the host if the annotation has one.
func public(object *unstructured.Unstructured) []string {
	text := object.GetAnnotations()[providers.AnnotationPublic]
	if object.GroupVersionKind().GroupKind() != kinds.Service {
		return strings.Split(text, ", ")
	}
	host, address, _ := strings.Cut(text, " ")
	numbers := map[string]string{} // by the names of ports
	for _, pair := range strings.Split(object.GetAnnotations()[providers.AnnotationPublicPorts], ",") {
		name, number, _ := strings.Cut(pair, "=")
		numbers[name] = number
	}
	ports, _, _ := unstructured.NestedSlice(object.Object, "spec", "ports")
	var out []string
	for _, port := range ports {
		port, _ := port.(map[string]any)
		name, _ := port["name"].(string)
		if number, ok := port["port"].(int64); ok {
			out = append(out, strings.TrimSpace(net.JoinHostPort(host, cmp.Or(numbers[name], strconv.FormatInt(number, 10)))+" "+address))
		}
	}
	return out
}
