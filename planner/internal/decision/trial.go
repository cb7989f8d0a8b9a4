package decision

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kolla.openstack.org/kolla/internal/words"
	"kolla.openstack.org/kolla/planner/dryrun"
	"kolla.openstack.org/kolla/planner/internal/inventory"
	"kolla.openstack.org/kolla/planner/internal/podsecurity"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/kinds"
)

// tryNew asks the server whether it would take the object as a new one, under a
// throw-away name if surrogate is set, and sets the action's evidence. Where it
// would not, the decision is taken back and the problem named.
func (p *decider) tryNew(ctx context.Context, s *subject, manifest *unstructured.Unstructured, surrogate bool) error {
	if p.inv.Input.Snapshot.Missing(s.out.Action.Ref.GVK) {
		return p.tryUndefined(s, manifest)
	}
	if p.withoutNamespace(s) {
		return nil
	}
	options := providers.DryRunOptions{Surrogate: surrogate}
	if inventory.NamespaceLive(p.inv.Input.Snapshot, s.out.Action.Ref.Namespace) {
		options.Namespace = s.out.Action.Ref.Namespace
	}
	answer, err := p.inv.Input.Reader.DryRun(ctx, manifest, options)
	if meta.IsNoMatchError(err) {
		return p.tryUndefined(s, manifest)
	}
	coming := p.comingFor(s)
	if err == nil {
		s.out.After = answer
		s.out.Action.Evidence = plans.Evidence{Kind: plans.DryRun}
		if surrogate {
			s.out.Action.Evidence = p.elsewhere(s)
		}
		if coming == nil {
			return nil
		}
		return p.tryForeseen(s, coming, manifest)
	}
	r := dryrun.Classify(err)
	if err := s.assume(manifest); err != nil {
		return err
	}
	if r.Shape && coming != nil {
		if err := p.tryForeseen(s, coming, manifest); err != nil || s.out.Action.Verb == "" {
			return err
		}
		s.out.Action.Evidence.Detail += refusedNow + r.Text()
		return nil
	}
	return p.untried(s, r, err)
}

// assume has the object become what is declared, for want of an answer.
func (s *subject) assume(manifest *unstructured.Unstructured) (err error) {
	s.out.After, err = dryrun.AsApplied(manifest)
	return err
}

// untried decides about a new object that the server gave no answer for.
func (p *decider) untried(s *subject, r dryrun.Refusal, err error) error {
	strange := s.out.Action.Ref.Namespace != "" && !inventory.NamespaceLive(p.inv.Input.Snapshot, s.out.Action.Ref.Namespace)
	switch {
	case r.World:
		return err
	case r.Unasked != "":
		s.out.Action.Evidence = plans.Evidence{Kind: plans.Unverified, Detail: r.Unasked}
	case r.Permission != nil:
		s.out.Action.Evidence = r.Forbidden()
	case strings.Contains(r.Message, "violates PodSecurity") && letsIn(p.inv, s):
		s.out.Action.Evidence = plans.Evidence{Kind: plans.Unverified, Detail: "its namespace does not let it in yet: this plan changes the Pod Security level of the namespace first"}
	case strange && r.Local:
		s.out.Action.Evidence = plans.Evidence{Kind: plans.Unverified, Detail: fmt.Sprintf("its namespace does not exist yet, and where it was tried instead, in the namespace %q, it is not let in: %s", providers.SurrogateNamespace, r.Text())}
	default:
		s.out.Action.Verb = ""
		s.out.reject(r)
		if advice := p.portAdvice(s, r); advice != "" {
			s.out.Problems[len(s.out.Problems)-1].Detail += "\n" + advice
		}
	}
	return nil
}

// elsewhere is the evidence of a dry run under a throw-away name. Where it was made
// in another namespace, it says what of the object's own was not in force there.
func (p *decider) elsewhere(s *subject) plans.Evidence {
	evidence := plans.Evidence{Kind: plans.Surrogate}
	if inventory.NamespaceLive(p.inv.Input.Snapshot, s.out.Action.Ref.Namespace) {
		return evidence
	}
	evidence.Detail = fmt.Sprintf("tried in the namespace %q", providers.SurrogateNamespace)
	if limits := p.limits[s.out.Action.Ref.Namespace]; len(limits) > 0 {
		evidence.Detail += ", without " + words.Few(limits, 4)
	}
	return evidence
}

// indexLimit takes down what limits the objects of a namespace.
func (p *decider) indexLimit(object *providers.Object) {
	ref := object.Ref()
	level := object.Manifest.GetLabels()[podsecurity.Label]
	switch {
	case ref.GVK.GroupKind() == kinds.ResourceQuota, ref.GVK.GroupKind() == kinds.LimitRange:
		p.limits[ref.Namespace] = append(p.limits[ref.Namespace], ref.String())
	case ref.GVK.GroupKind() == kinds.Namespace && level != "":
		p.limits[ref.Name] = append(p.limits[ref.Name], fmt.Sprintf("the Pod Security level %q", level))
	}
}

// letsIn reports whether this plan gives the namespace of the object another Pod Security
// level, which accepts the pods of the object.
func letsIn(inv *inventory.Inventory, s *subject) bool {
	ref := providers.Ref{GVK: inventory.Namespaces, Name: s.out.Action.Ref.Namespace}
	namespace := inv.DeclaredAs(ref)
	return namespace != nil && podsecurity.Changes(namespace, inv.Input.Snapshot.Get(ref)) &&
		podsecurity.Refused(s.out.Object.Manifest, namespace, inv.Input.Cluster.Version) == ""
}

// withoutNamespace names the problem where the object's namespace is not there, and
// will not be made by this plan.
func (p *decider) withoutNamespace(s *subject) bool {
	name := s.out.Action.Ref.Namespace
	ref := providers.Ref{GVK: inventory.Namespaces, Name: name}
	declared := p.inv.DeclaredAs(ref) != nil
	switch {
	case inventory.NamespaceLive(p.inv.Input.Snapshot, name), declared:
		return false
	case p.inv.Input.Snapshot.Get(ref) != nil:
		s.out.withdraw(fmt.Sprintf("namespace %q is being deleted", name), "Nothing can be made in it. Plan again when it is gone; it has to be declared, or created, then.")
	default:
		s.out.withdraw(fmt.Sprintf("namespace %q does not exist", name), "Declare it in a manifest, or create it first.")
	}
	return true
}

// portTaken is how the API server words that another Service has a node port.
const portTaken = "provided port is already allocated"

// portAdvice says how to go on where a new Service has a node port of another one. If this
// plan deletes that one: what depends on that one changes, or goes, before it does, and needs
// the new one by then. Empty: it is not about node ports.
func (p *decider) portAdvice(s *subject, r dryrun.Refusal) string {
	kind := s.out.Action.Ref.GVK
	if kind.GroupKind() != kinds.Service || !strings.Contains(r.Text(), portTaken) {
		return ""
	}
	wanted := dryrun.NodePorts(s.out.Object.Manifest)
	for i := range p.inv.Records {
		old := &p.inv.Records[i]
		live := p.inv.Input.Snapshot.Get(old.Ref)
		if old.Ref.GVK != kind || !p.inv.Owns(live) || !p.set.Has(p.inv.Successor(old)) {
			continue
		}
		declared := p.inv.DeclaredAs(old.Ref) != nil
		_, released := inventory.Released(p.inv.Input.Removals, old.RecordedAddress())
		ports := slices.DeleteFunc(dryrun.NodePorts(live), func(port int64) bool { return !slices.Contains(wanted, port) })
		if declared || released || len(ports) == 0 {
			continue
		}
		advice := fmt.Sprintf("%s has node port %d, and this plan deletes it only when the new one is there.", old.Ref, ports[0])
		if was, is := inventory.ServiceOf(live), inventory.ServiceOf(s.out.Object.Manifest); was != "" && is != "" && was != is {
			advice += fmt.Sprintf(" To keep the name that the service has in the cluster, say in its block:\n\n  name = %q\n\nOtherwise delete", was)
		} else {
			advice += " Delete"
		}
		advice += fmt.Sprintf(" the old one first; nothing answers on that port from then on until the apply:\n\n  kubectl delete service --namespace %s %s", old.Ref.Namespace, old.Ref.Name)
		return advice
	}
	return "Another Service of the cluster has that node port. Choose another one, or find out whose it is:\n\n  kubectl get services --all-namespaces"
}
