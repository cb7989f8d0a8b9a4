package planner

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"kolla.openstack.org/kolla/internal/spelling"
	"kolla.openstack.org/kolla/lang"
	"kolla.openstack.org/kolla/providers"
)

// target is an object that is to go.
type target struct {
	address lang.Address
	ref     providers.Ref
	live    *unstructured.Unstructured // nil: gone already
	uid     string                     // of the object in the state; empty: known by its label only
	partial bool
	holds   string     // what would be lost, as declared
	renamed string     // the block that it is of now, by a moved block
	absence ReasonKind // why it is gone, if it is
	guard   string     // where prevent_destroy was said when it was last applied
}

func (r *record) target(snapshot *providers.Snapshot) target {
	return target{
		address: r.recordedAddress(),
		renamed: r.renamed(),
		absence: r.absence(),
		guard:   r.Protected,
		ref:     r.ref,
		live:    snapshot.Get(r.ref),
		uid:     r.UID,
		partial: r.Partial,
		holds:   r.Holds,
	}
}

func (t target) namespace() bool { return t.ref.GVK.GroupKind() == providers.NamespaceKind }

// remove plans deletions; namespaces last, when it is known what else goes.
func (p *planning) remove(targets []target, reason ReasonKind) {
	for _, t := range targets {
		if !t.namespace() {
			p.removeOne(t, reason)
		}
	}
	p.refuseLosses()
	for _, t := range targets {
		if t.namespace() {
			p.removeOne(t, reason)
		}
	}
}

// guarded is an object that no plan but a destroy leaves out for what it holds.
type guarded struct {
	target
	data string
}

// refuseLosses names the problems of data that would be lost: one for each block, since
// whoever takes a service away decides about all that it holds.
func (p *planning) refuseLosses() {
	blocks := map[string][]guarded{}
	var order []string
	for _, g := range p.guarded {
		block := g.address.Block
		if blocks[block] == nil {
			order = append(order, block)
		}
		blocks[block] = append(blocks[block], g)
	}
	p.guarded = nil
	for _, block := range order {
		slices.SortFunc(blocks[block], func(a, b guarded) int { return a.address.Compare(b.address) })
		p.problems = append(p.problems, p.lossOf(block, blocks[block]))
	}
}

// external reports whether a block is a service that is there already, and not deployed.
func (p *planning) external(block string) bool { return slices.Contains(p.External, block) }

// backAgain is how a service gets back what was deployed of it, before it was external.
const backAgain = "Take external out of the service again"

func (p *planning) lossOf(block string, all []guarded) Problem {
	first := all[0]
	external := p.external(block)
	if len(all) == 1 {
		what, back := fmt.Sprintf("%s is no longer declared, and holds %s", first.ref, first.data), "Put its declaration back"
		if external {
			what, back = fmt.Sprintf("%s is external now, and %s holds %s", block, first.ref, first.data), backAgain
		}
		return Problem{
			Address: first.address,
			Summary: what,
			Detail: fmt.Sprintf("%s; or, to delete it with what it holds, plan with %s; or keep the object and have kolla forget it:\n\n%s",
				back, Option("-delete-data", first.address.String()), forgetting(first.address)),
		}
	}
	what, back := fmt.Sprintf("%d objects of %s are no longer declared, and hold data", len(all), block), "Put the declaration back"
	switch {
	case external:
		what, back = fmt.Sprintf("%s is external now, and %d of its objects hold data", block, len(all)), backAgain
	case !slices.ContainsFunc(p.Objects, func(o providers.Object) bool { return o.Address.Block == block }):
		what = fmt.Sprintf("%s is no longer declared, and %d of its objects hold data", block, len(all))
	}
	var list strings.Builder
	for _, g := range all {
		fmt.Fprintf(&list, "  %s: %s\n", g.ref, g.data)
	}
	return Problem{
		Address: first.address,
		Summary: what,
		Detail: fmt.Sprintf("What would be lost:\n\n%s\n%s; or, to delete all of these, plan with %s; or keep them and have kolla forget each, as in:\n\n%s",
			list.String(), back, Option("-delete-data", block), forgetting(first.address)),
	}
}

// removeOne deletes an object only if state, label and UID agree that it is
// kolla's (a partial one has no label), and if nothing is lost by it that the operator
// did not name.
func (p *planning) removeOne(t target, reason ReasonKind) {
	if p.keepUnread(t) {
		return
	}
	if t.live == nil {
		p.forget(t, Reason{Kind: t.absence})
		return
	}
	if twin, twice := p.removed[t.live.GetUID()]; twice {
		p.forget(t, Reason{Kind: reason, Detail: fmt.Sprintf("the state has it a second time, as %s", twin)})
		return
	}
	p.removed[t.live.GetUID()] = t.address
	if by, ok := p.released(t.address); ok && reason != ReasonSuperseded {
		p.release(t, reason, by)
		return
	}
	if why := p.notOurs(t); why != "" {
		p.forget(t, Reason{Kind: reason, Detail: why})
		p.problems = append(p.problems, Problem{
			Warning: true,
			Address: t.address,
			Summary: fmt.Sprintf("%s is left alone: %s", t.ref, why),
			Detail:  "kolla deletes only what state, label and UID all say is its own. It is dropped from the state.",
		})
		return
	}
	if reason != ReasonSuperseded && p.prevented(t) {
		return
	}
	if why := p.protected(t); why != "" {
		p.protect(t, why)
		return
	}
	switch {
	case reason == ReasonUndeclared && p.external(cmp.Or(t.renamed, t.address.Block)):
		reason = ReasonExternal
	case reason == ReasonUndeclared && t.renamed != "":
		reason = ReasonRenamed
	}
	detail := t.renamed
	if detail == t.address.Block {
		detail = ""
	}
	action := Action{
		Address:  t.address,
		Verb:     Delete,
		Partial:  t.partial,
		Ref:      t.ref,
		Prior:    providers.Precondition{UID: t.live.GetUID(), ResourceVersion: t.live.GetResourceVersion()},
		Reasons:  []Reason{{Kind: reason, Detail: detail}},
		Evidence: Evidence{Kind: Recorded},
	}
	if taken, ok := p.carried[t.ref]; ok {
		if !taken.anew {
			action.Heir = taken.heir
		}
		action.DependsOn = append(action.DependsOn, taken.heir)
	} else if !t.partial {
		action.Holds = holding(t.live, t.holds)
		if t.namespace() {
			p.occupy(&action)
		}
	}
	if t.partial {
		action.Changes = p.givenUp(t.live)
	}
	p.actions = append(p.actions, action)
}

// prevention says who forbids that something is destroyed.
func prevention(block, source string) string {
	if source == "" {
		return fmt.Sprintf("prevent_destroy in the lifecycle of %s forbids to destroy it", block)
	}
	return fmt.Sprintf("prevent_destroy in the lifecycle of %s (%s) forbids to destroy it", block, source)
}

// prevented names the problem where an object must not be destroyed: as it is
// declared, or, where it is not any more, as it was when it was last applied. Of a whole
// block that is said in the same words of each object, so that it is one message.
func (p *planning) prevented(t target) bool {
	if object := p.desired[t.address]; object != nil {
		l := object.Lifecycle
		if l == nil || !l.PreventDestroy {
			return false
		}
		what := t.ref.String()
		if p.guardedAlike(t.address.Block, func(a lang.Address, _ string) bool {
			other := p.desired[a]
			return other == nil || other.Lifecycle != nil && other.Lifecycle.PreventDestroy && other.Lifecycle.Source == l.Source
		}) {
			what = t.address.Block
		}
		p.problems = append(p.problems, problemOf(object, fmt.Sprintf("%s must not be destroyed", what),
			prevention(t.address.Block, l.Source)+". Take that away first, if it is really meant."))
		return true
	}
	if t.guard == "" {
		return false
	}
	what, keep, from := t.ref.String(), "the object", strconv.Quote(t.address.String())
	if p.guardedAlike(t.address.Block, func(a lang.Address, guard string) bool { return p.desired[a] == nil && guard == t.guard }) {
		what, keep, from = t.address.Block, "what it has", t.address.Block
	}
	is, back, away := "no longer declared", "Put its declaration back", "take it away"
	if p.external(t.address.Block) {
		is, back, away = "not deployed any more, because its service is external now", backAgain, "make it external"
	}
	p.problems = append(p.problems, Problem{
		Address: t.address,
		Summary: fmt.Sprintf("%s is %s, and must not be destroyed", what, is),
		Detail: fmt.Sprintf("When it was last applied, %s. %s; to let it go, say prevent_destroy = false, apply, and then %s; or keep %s and have kolla forget it:\n\n%s",
			prevention(t.address.Block, t.guard), back, away, keep, forgettingFrom(from)),
	})
	return true
}

// guardedAlike reports whether what holds for an object holds for all of its block, with
// where prevent_destroy was said of each when it was last applied.
func (p *planning) guardedAlike(block string, alike func(address lang.Address, guard string) bool) bool {
	return !slices.ContainsFunc(p.records, func(r record) bool {
		was := r.recordedAddress()
		return was.Block == block && !alike(was, r.Protected)
	})
}

// forgetting is the block by which kolla leaves an object to its operator.
func forgetting(address lang.Address) string { return forgettingFrom(strconv.Quote(address.String())) }

func forgettingFrom(from string) string {
	return fmt.Sprintf("  removed {\n    from = %s\n    lifecycle {\n      destroy = false\n    }\n  }", from)
}

// givenUp are the fields that are gone when kolla owns them no more: what nobody
// else owns. An object that cannot be read that way shows none.
func (p *planning) givenUp(live *unstructured.Unstructured) []Change {
	bare := &unstructured.Unstructured{}
	bare.SetGroupVersionKind(live.GroupVersionKind())
	bare.SetName(live.GetName())
	bare.SetNamespace(live.GetNamespace())
	after, err := predict(live, bare, providers.ManagerOf(p.Cloud, true))
	if err != nil {
		return nil
	}
	differences, err := compare(live, after)
	if err != nil {
		return nil
	}
	return changesOf(differences)
}

func (p *planning) forget(t target, reason Reason) {
	p.actions = append(p.actions, Action{
		Address:  t.address,
		Verb:     Forget,
		Ref:      t.ref,
		Reasons:  []Reason{reason},
		Evidence: Evidence{Kind: Recorded},
	})
}

// release lets an object go that a removed block leaves in the cluster, with the
// volumes that it asked for. What marks it as kolla's is taken off it, so that no later
// plan takes it for kolla's own.
func (p *planning) release(t target, reason ReasonKind, by lang.Removal) {
	p.forget(t, Reason{Kind: reason, Detail: fmt.Sprintf("a removed block (%s) leaves it in the cluster", place(by.Range))})
	a := &p.actions[len(p.actions)-1]
	if why := p.notOurs(t); why != "" {
		a.Reasons[0].Detail += " as it is: " + why
		return
	}
	a.Releases, a.Partial = true, t.partial
	a.Prior = providers.Precondition{UID: t.live.GetUID()}
	a.Reasons[0].Detail += ", and kolla's labels and annotations are taken off it"
	if t.ref.GVK.GroupKind() != statefulSetKind {
		return
	}
	for _, ref := range p.volumesOf(t.live) {
		if claim := p.Snapshot.Get(ref); p.known[identify(ref)] == nil && p.labelled(claim) {
			p.release(target{address: p.addressOf(ref, claim.GetAnnotations(), claim.GetLabels()), ref: ref, live: claim}, reason, by)
		}
	}
}

// notOurs says why a live object is not the one that kolla made; empty: it is. An
// object without the label was released by whoever took that away. The state has no
// UID for what a killed apply made and for what only the label tells.
func (p *planning) notOurs(t target) string {
	label := t.live.GetLabels()[providers.LabelCloud]
	switch {
	case t.uid != "" && t.uid != string(t.live.GetUID()):
		return "it was deleted and made again by somebody else"
	case t.partial, label == p.Cloud:
		return ""
	case label != "":
		return fmt.Sprintf("it is labelled as an object of cloud %q", label)
	}
	return "somebody took its label " + providers.LabelCloud + " away"
}

// protected says what would be lost with an object; empty: nothing, or the
// operator named it.
func (p *planning) protected(t target) string {
	if t.partial {
		return ""
	}
	if t.namespace() {
		if occupants := p.occupants(t.ref.Name); len(occupants) > 0 && !p.mayEmpty(t) {
			return "what is not deleted with it: " + enumerate(occupants, 4)
		}
		if p.Destroy {
			return ""
		}
	}
	holds := holding(t.live, t.holds)
	if _, lives := p.carried[t.ref]; lives {
		holds = ""
	}
	if holds == "" || p.mayDelete(t.address) {
		return ""
	}
	return holds
}

// protect leaves an object in place: a destroy says so, any other plan is not
// made.
func (p *planning) protect(t target, holds string) {
	if p.Destroy {
		p.kept = append(p.kept, Kept{Address: t.address, Ref: t.ref, Holds: holds})
		return
	}
	if !t.namespace() {
		p.guarded = append(p.guarded, guarded{t, holds})
		return
	}
	problem := p.lossOf(t.address.Block, []guarded{{t, holds}})
	if len(p.occupants(t.ref.Name)) > 0 {
		problem.Detail = p.occupiedRemedy(t)
	}
	p.problems = append(p.problems, problem)
}

// mayDelete reports whether the operator named the object as one that may go, or the
// block or a module that it is in.
func (p *planning) mayDelete(address lang.Address) bool {
	may := false
	for _, name := range append(candidate{address: address}.names(), "*") {
		may = p.names(name) || may
	}
	return may
}

// names reports whether the operator gave the name for what may go.
func (p *planning) names(name string) bool {
	p.naming.Lock()
	defer p.naming.Unlock()
	given := slices.Contains(p.DeleteData, name)
	if given {
		p.named[name] = true
	}
	return given
}

// checkDeleteData warns of names that matched nothing: probably slips.
func (p *planning) checkDeleteData() {
	for _, name := range p.DeleteData {
		if name != "*" && !p.named[name] {
			p.problems = append(p.problems, Problem{
				Warning: true,
				Summary: fmt.Sprintf("-delete-data=%s has no effect", name),
				Detail:  strings.TrimSpace(spelling.DidYouMean(name, p.holders()) + " No object of that address holds data and would be deleted or replaced by this plan."),
			})
		}
	}
}

// holders are the addresses of what this plan keeps, or loses, with data in it.
func (p *planning) holders() []string {
	var known []string
	for _, k := range p.kept {
		known = append(known, k.Address.String())
	}
	for _, a := range p.actions {
		if a.Holds != "" {
			known = append(known, a.Address.String())
		}
	}
	for _, problem := range p.problems {
		if problem.Address != (lang.Address{}) {
			known = append(known, problem.Address.String())
		}
	}
	slices.Sort(known)
	return slices.Compact(known)
}

// occupants lists what is in a namespace and is not deleted by this plan.
func (p *planning) occupants(namespace string) []string {
	if slices.Contains(systemNamespaces, namespace) {
		return []string{"what Kubernetes itself needs"}
	}
	contents := p.inside[namespace]
	var names []string
	for _, o := range Occupants(contents, Going(p.actions)) {
		names = append(names, o.Ref.String())
	}
	for _, r := range p.records {
		if r.ref.Namespace == namespace && p.whyUnread(r.ref) != nil {
			names = append(names, r.ref.String())
		}
	}
	return append(names, contents.Unread...)
}

// enumerate lists the first few, and how many more there are.
func enumerate(names []string, most int) string {
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
}

// linkDeletes has each deletion wait for the actions on what depended on it, for
// the deletion of what is in it (a namespace), of its kind (a definition), or may
// still use it (a claim).
func (p *planning) linkDeletes() {
	acted := map[lang.Address]*Action{}
	for i := range p.actions {
		a := &p.actions[i]
		if a.Verb != None && a.Verb != Forget {
			acted[a.Address] = a
		}
	}
	dependants := p.dependants()
	for i := range p.actions {
		a := &p.actions[i]
		if a.Verb != Delete {
			continue
		}
		for _, dependant := range dependants[a.Address] {
			if acted[dependant] != nil {
				a.DependsOn = append(a.DependsOn, dependant)
			}
		}
		if contains(a.Ref.GVK.GroupKind()) {
			for j := range p.actions {
				other := &p.actions[j]
				if other.Verb == Delete && i != j && p.outlives(a, other) {
					a.DependsOn = append(a.DependsOn, other.Address)
				}
			}
		}
		slices.SortFunc(a.DependsOn, lang.Address.Compare)
		a.DependsOn = slices.Compact(a.DependsOn)
	}
}

// dependants lists, for each object, what depends on it: as recorded, or, of
// objects that the state lost, as declared.
func (p *planning) dependants() map[lang.Address][]lang.Address {
	dependants := map[lang.Address][]lang.Address{}
	for _, r := range p.records {
		for _, text := range r.DependsOn {
			if on, err := lang.ParseAddress(text); err == nil {
				dependants[on] = append(dependants[on], p.actedAs(r))
			}
		}
	}
	for address, object := range p.desired {
		if p.recorded[address] == nil {
			for _, on := range object.DependsOn {
				dependants[on] = append(dependants[on], address)
			}
		}
	}
	return dependants
}

// actedAs is the address of the action on a recorded object.
func (p *planning) actedAs(r record) lang.Address {
	if address, declared := p.byRef[identify(r.ref)]; declared {
		return address
	}
	return r.recordedAddress()
}

// contains reports whether objects of the kind may outlive others by what they are.
func contains(kind schema.GroupKind) bool {
	switch kind {
	case providers.NamespaceKind, providers.ClaimKind, definitionKind:
		return true
	}
	return false
}

// outlives reports whether a must be deleted after b by what they are.
func (p *planning) outlives(a, b *Action) bool {
	switch a.Ref.GVK.GroupKind() {
	case providers.NamespaceKind:
		return b.Ref.Namespace == a.Ref.Name
	case providers.ClaimKind:
		return b.Ref.Namespace == a.Ref.Namespace && runsPods(b.Ref.GVK.GroupKind())
	case definitionKind:
		kind, _ := definedKind(p.Snapshot.Get(a.Ref))
		return b.Ref.GVK.GroupKind() == kind
	}
	return false
}

func runsPods(kind schema.GroupKind) bool {
	switch kind {
	case deploymentKind, statefulSetKind, daemonSetKind, providers.JobKind:
		return true
	}
	return false
}

// warnOrphans names objects that are labelled as this cloud's, and that neither
// the state nor the configuration knows.
func (p *planning) warnOrphans() {
	for _, t := range p.unrecorded() {
		if p.byRef[identify(t.ref)] != (lang.Address{}) || t.live.GetAnnotations()[providers.AnnotationAddress] == "" {
			continue
		}
		p.problems = append(p.problems, Problem{
			Warning: true,
			Address: t.address,
			Summary: fmt.Sprintf("%s is labelled as an object of this cloud, but neither the state nor the configuration knows it", t.ref),
			Detail:  "It is left alone. If nothing needs it any more, delete it with kubectl.",
		})
	}
}
