package rights

import (
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/kinds"
	"kolla.openstack.org/kolla/state"
)

// Kinds that need additional rights.
var (
	workloads   = []schema.GroupKind{kinds.Deployment, kinds.StatefulSet, kinds.DaemonSet, kinds.Job}
	claims      = kinds.PersistentVolumeClaim.WithVersion("v1")
	endpoints   = kinds.EndpointSlice.WithVersion("v1")
	autoscalers = schema.GroupVersionKind{Group: "autoscaling", Version: "v2", Kind: "HorizontalPodAutoscaler"}
)

// namespaced returns the rules of the Role in a namespace.
func (b *builder) namespaced(namespace string) []Rule {
	declared, leaving := b.declared(namespace), b.leaving(namespace)
	if len(declared) > 0 && b.claimsOf(namespace) && declared[claims] == nil && leaving[claims] == nil {
		leaving.add(claims, "")
	}
	listed := namesByKind{}
	for _, found := range []namesByKind{declared, leaving} {
		for kind := range found {
			listed.add(kind, "")
		}
	}
	var rules []Rule
	if b.ReadOnly {
		rules = b.over("A plan compares the objects of these kinds with the configuration and the state.", listed.sorted(), compare...)
	} else {
		rules = b.over("The configuration declares objects of these kinds. A plan compares them, and tries changes in dry runs; an apply makes, changes, awaits and deletes them.", declared.sorted(), manage...)
		rules = append(rules, b.over("The state knows objects of these kinds, or StatefulSets have them. An apply or a destroy deletes them.", leaving.sorted(), remove...)...)
	}
	rules = append(rules, b.registrations(namespace)...)
	if listed.has(kinds.Deployment, kinds.StatefulSet) && listed[autoscalers] == nil {
		rules = append(rules, b.over("Where others changed the number of replicas, a plan looks whether an autoscaler did.", []schema.GroupVersionKind{autoscalers}, "list")...)
		listed.add(autoscalers, "")
	}
	if declared.has(kinds.Service) && listed[endpoints] == nil {
		rules = append(rules, b.over("kolla discover shows which pods are behind a Service.", []schema.GroupVersionKind{endpoints}, "list")...)
		listed.add(endpoints, "")
	}
	switch {
	case listed.has(workloads...):
		rules = append(rules, b.workloads(namespace, listed)...)
	case b.ReadOnly:
	case listed[claims] != nil, b.hasWayIn(namespace):
		rules = append(rules, Rule{Why: "An apply says why a claim gets no volume, or a Service no address.", Groups: []string{""}, Resources: []string{"events"}, Verbs: []string{"list", "watch"}})
		if listed[claims] != nil {
			rules = append(rules, Rule{Why: "A claim is replaced only if no pod uses it.", Groups: []string{""}, Resources: []string{"pods"}, Verbs: []string{"list"}})
		}
	}
	for _, r := range b.Reads {
		if r.Namespace == namespace && listed[r.GVK] == nil {
			rules = append(rules, b.over(r.Why, []schema.GroupVersionKind{r.GVK}, "list")...)
			listed.add(r.GVK, "")
		}
	}
	rules = append(rules, b.destroys(namespace, listed)...)
	if !b.ReadOnly {
		rules = append(rules, b.granted(namespace)...)
	}
	if namespace == b.State {
		rules = append(rules, b.state()...)
	}
	return rules
}

// registrations returns the rules for the connections to Keystone, MariaDB and RabbitMQ through the API server.
func (b *builder) registrations(namespace string) []Rule {
	var services, pods []string
	for i := range b.Objects {
		r := b.Objects[i].Registers
		if r == nil {
			continue
		}
		if r.Keystone != nil && r.Keystone.Keystone.Namespace == namespace {
			services = append(services, r.Keystone.Keystone.ProxyName())
		}
		for _, server := range r.Servers() {
			for _, member := range server.Members {
				if member.Namespace == namespace {
					pods = append(pods, member.Pod)
				}
			}
		}
	}
	var rules []Rule
	if services = named(services); len(services) > 0 {
		rules = append(rules, Rule{
			Why:    "A plan logs in to Keystone through the API server, and compares users, roles, services and endpoints with the configuration. With -registrations=false it does not.",
			Groups: []string{""}, Resources: []string{"services/proxy"}, Names: services, Verbs: []string{"get", "create"},
		})
	}
	if pods = named(pods); len(pods) > 0 {
		rules = append(rules, Rule{
			Why:    "A plan logs in to MariaDB and RabbitMQ through a forwarded port of a pod, and compares databases, virtual hosts, their users and cells of Nova with the configuration. With -registrations=false it does not.",
			Groups: []string{""}, Resources: []string{"pods/portforward"}, Names: pods, Verbs: []string{"get", "create"},
		})
	}
	return rules
}

// state returns the rules for the Secrets and the Lease of the state. Their names contain
// checksums and numbers, so that the rules have no names.
func (b *builder) state() []Rule {
	secrets := Rule{Why: "The state of the cloud is in Secrets of this namespace.", Groups: []string{""}, Resources: []string{"secrets"}, Verbs: []string{"get", "list"}}
	lease := Rule{Why: "A Lease is the lock of the state.", Groups: []string{"coordination.k8s.io"}, Resources: []string{"leases"}, Verbs: []string{"get"}}
	if !b.ReadOnly {
		secrets.Verbs = append(secrets.Verbs, "create", "update", "delete")
		lease.Verbs = append(lease.Verbs, "create", "update")
	}
	return []Rule{secrets, lease}
}

// hasWayIn reports whether an apply waits for a way in, such as a Service of type LoadBalancer, in the
// namespace.
func (b *builder) hasWayIn(namespace string) bool {
	return slices.ContainsFunc(b.Objects, func(o providers.Object) bool {
		return o.Manifest.GetNamespace() == namespace && providers.IsWayIn(o.Manifest)
	})
}

// claimsOf reports whether a StatefulSet in the namespace claims volumes.
func (b *builder) claimsOf(namespace string) bool {
	return slices.ContainsFunc(b.Objects, func(o providers.Object) bool {
		templates, _, _ := unstructured.NestedFieldNoCopy(o.Manifest.Object, "spec", "volumeClaimTemplates")
		return o.Manifest.GetNamespace() == namespace && templates != nil
	})
}

// workloads returns the rules for the requests that kolla makes about the pods of workloads.
// listed are the kinds with rules of their own, to which it adds.
func (b *builder) workloads(namespace string, listed namesByKind) []Rule {
	var commands, saves, replaces, daemons, mounts bool
	for i := range b.Objects {
		u := b.Objects[i].Manifest
		if u.GetNamespace() != namespace {
			continue
		}
		strategy, _, _ := unstructured.NestedString(u.Object, "spec", "updateStrategy", "type")
		commands = commands || u.GetAnnotations()[providers.AnnotationCarries] != "" || u.GetAnnotations()[providers.AnnotationLeave] != ""
		saves = saves || u.GetAnnotations()[providers.AnnotationBackup] != ""
		replaces = replaces || strategy == "OnDelete"
		daemons = daemons || u.GetKind() == kinds.DaemonSet.Kind
		mounts = mounts || mountsClaim(u)
	}
	commands = commands || b.goes(namespace, kinds.DaemonSet, kinds.StatefulSet)
	daemons = daemons || b.goes(namespace, kinds.DaemonSet)
	verbs := []string{"list", "watch"}
	if b.ReadOnly {
		verbs = []string{"list"}
	}
	rules := []Rule{
		{Why: "An apply and kolla status say why a workload is not ready: its pods and their events. kolla logs prints the logs.", Groups: []string{""}, Resources: []string{"events", "pods"}, Verbs: verbs},
		{Groups: []string{""}, Resources: []string{"pods/log"}, Verbs: []string{"get"}},
		{Why: "kolla top shows how much CPU and memory the pods use, if the cluster measures it.", Groups: []string{kinds.PodMetrics.Group}, Resources: []string{"pods"}, Verbs: []string{"list"}},
	}
	if mounts && listed[claims] == nil {
		of := verbs
		if !b.ReadOnly {
			of = append([]string{"get"}, verbs...)
		}
		rules = append(rules, b.over("An apply and kolla status say which claim of pods has no volume.", []schema.GroupVersionKind{claims}, of...)...)
		listed.add(claims, "")
	}
	if replaces && !b.ReadOnly {
		rules = append(rules, Rule{
			Why:    `kolla rollout replaces the pods of workloads with update = "on-delete".`,
			Groups: []string{""}, Resources: []string{"pods"}, Verbs: []string{"get", "delete"},
		})
	}
	if saves && !b.ReadOnly {
		rules = append(rules, Rule{
			Why:    "kolla restore, and a backup into a claim, make pods that mount the claims of workloads.",
			Groups: []string{""}, Resources: []string{"pods"}, Verbs: []string{"get", "create", "patch", "delete"},
		})
	}
	if (commands || saves) && !b.ReadOnly {
		rules = append(rules, Rule{
			Why:    "Before pods of some workloads go, an apply asks them for what they carry, and has them clean their node: a command in the container. kolla backup and kolla restore run commands, too. Newer servers want create for it.",
			Groups: []string{""}, Resources: []string{"pods/exec"}, Verbs: []string{"get", "create"},
		})
	}
	if daemons {
		rules = append(rules, Rule{
			Why:    "They tell which pods of a DaemonSet are outdated.",
			Groups: []string{"apps"}, Resources: []string{"controllerrevisions"}, Verbs: verbs,
		})
	}
	return rules
}

// mountsClaim reports whether the pods of an object mount a claim.
func mountsClaim(object *unstructured.Unstructured) bool {
	path, ok := kinds.Pods(object.GroupVersionKind().GroupKind())
	volumes, _, _ := unstructured.NestedSlice(object.Object, slices.Concat(path, []string{"spec", "volumes"})...)
	return ok && slices.ContainsFunc(volumes, func(item any) bool {
		volume, _ := item.(map[string]any)
		return volume["persistentVolumeClaim"] != nil
	})
}

// goes reports whether the state has an object of these kinds in the namespace that the
// configuration does not declare. The state does not know whether its pods have commands.
func (b *builder) goes(namespace string, of ...schema.GroupKind) bool {
	return slices.ContainsFunc(b.Known, func(o state.Object) bool {
		kind := schema.FromAPIVersionAndKind(o.APIVersion, o.Kind)
		return o.Namespace == namespace && slices.Contains(of, kind.GroupKind()) && !slices.Contains(b.declared(namespace)[kind], o.Name)
	})
}

// destroys returns the rules for the objects that the plan of a destroy looks for in a
// namespace.
func (b *builder) destroys(namespace string, listed namesByKind) []Rule {
	var looked []schema.GroupVersionKind
	switch {
	case namespace == b.Namespace, slices.Contains(b.ownNamespaces(), namespace):
		looked = destroyed(listed)
	case len(listed) > 0 && (len(b.declared(namespace)) > 0 || len(b.leaving(namespace)) > 0):
		for _, kind := range []schema.GroupVersionKind{claims, kinds.StatefulSet.WithVersion("v1")} {
			if listed[kind] == nil {
				looked = append(looked, kind)
			}
		}
	}
	return b.over("A plan of a destroy looks for volumes, and for objects with the label of the cloud that the state does not know.", looked, "list")
}

// ownNamespaces returns the namespaces that the configuration declares or the state contains.
func (b *builder) ownNamespaces() []string {
	kind := kinds.Namespace.WithVersion("v1")
	return named(append(b.declared("")[kind], b.known(kind)...))
}
