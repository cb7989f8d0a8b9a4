package lang

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"k8s.io/apimachinery/pkg/util/validation"

	"kolla.openstack.org/kolla/internal/words"
	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/lang/internal/source"
	"kolla.openstack.org/kolla/lang/schema"
)

// maxJoined is the length of SERVICE-WORKLOAD. A StatefulSet puts a hash after
// its name into labels of 63 characters, and kolla one after the name of a Job.
const maxJoined = 52

// checkPort reports a port that is not among those there are.
func (in *instance) checkPort(b *source.Block, attribute, name string, known []string) {
	switch {
	case name == "" && !in.inner.given(b, attribute):
		in.report.Error(b.Header, "Missing argument", "%s needs the argument %q: %s", b.Described(), attribute, b.Type.Attribute(attribute).Doc)
	case name != "" && !slices.Contains(known, name) && in.definition.Complete():
		in.report.Undeclared(b.AttributeRange(attribute), "port", name, known)
	}
}

// checkProbePort reports a port of a probe that the workload does not listen on.
func (in *instance) checkProbePort(workload, b *source.Block, attribute string, ports []string) {
	name, known := in.inner.string(b, attribute), in.definition.Labels("port")
	in.checkPort(b, attribute, name, known)
	if in.isUDP(name) {
		in.report.Error(b.AttributeRange(attribute), "Unsuitable probe", "Port %q is a UDP port: nothing can connect to it. Probe with exec.", name)
	}
	if slices.Contains(known, name) && !slices.Contains(ports, name) && in.inner.settled(workload, "ports") {
		in.report.Error(b.AttributeRange(attribute), "Unsuitable probe", "The %s does not listen on port %q: add it to its argument `ports`.", workload.Type.Name, name)
	}
}

// isUDP reports whether a port is one of UDP.
func (in *instance) isUDP(port string) bool {
	return slices.ContainsFunc(in.out.Ports, func(p configs.Port) bool { return p.Name == port && p.UDP })
}

// headers are what a probe sends.
func (in *instance) headers(b *source.Block) map[string]string {
	out := in.inner.strings(b, "headers")
	for _, name := range keysOf(out) {
		if problems := validation.IsHTTPHeaderName(name); len(problems) > 0 {
			in.inner.unsuitable(b, "headers", "%q is no name of a header: it has letters, digits and dashes.", name)
		}
		if strings.ContainsAny(out[name], "\r\n") {
			in.inner.unsuitable(b, "headers", "The value of %q must be one line.", name)
		}
	}
	return out
}

// checkLength reports names that would be too long when joined.
func (in *instance) checkLength(b *source.Block) {
	if len(in.out.Name)+1+len(b.Label) > maxJoined {
		in.report.Error(in.block.LabelRange, "Unsuitable name",
			"%q together with the name of its %s %q is longer than %d characters. Take a shorter one.", in.out.Name, b.Type.Name, b.Label, maxJoined)
	}
}

// checkOverrides reports overrides of what the definition does not have.
func (in *instance) checkOverrides() {
	in.checkStrays()
	in.checkUnread()
	in.checkMisspelt()
	in.checkAllReplicas()
	for _, name := range keysOf(in.images) {
		if !in.used[name] && in.imagesKnown() {
			in.report.Error(in.block.AttributeRange("images"), fmt.Sprintf("There is no image %q", name), "%s",
				words.WithHint(words.DidYouMean(name, keysOf(in.used)), fmt.Sprintf("Service %q runs: %s.", in.out.Name, words.Sorted(keysOf(in.used)))))
		}
	}
	if in.out.Exposure != "" && !slices.ContainsFunc(in.out.Ports, func(p configs.Port) bool { return p.Exposed }) && in.exposesAsSaid() {
		in.report.Warn(in.block.AttributeRange("expose"), "Exposure without effect",
			"Definition %q has no port that is meant to be reached from outside (expose = true in its port block), so that nothing of service %q is.", in.out.Definition, in.out.Name)
	}
	for _, p := range in.out.Ports {
		if override := in.block.One("port", p.Name); override != nil && override.Attributes["node_port"] != nil && (!in.asksForExposure() || !p.Exposed) && in.exposesAsSaid() {
			in.report.Warn(override.Header, "Node port without effect", "Port %q is not reachable from outside: %s.", p.Name, in.whyInside(p))
		}
	}
}

// checkStrays reports blocks that override nothing, and are not complete.
func (in *instance) checkStrays() {
	for _, s := range in.strays {
		if in.out.External || !in.definition.Complete() {
			continue // it is refused, or it may come
		}
		b := s.block
		in.report.Error(b.LabelRange, fmt.Sprintf("There is no %s %q", b.Type.Label, b.Label), "%s", words.WithHint(words.DidYouMean(b.Label, s.known),
			fmt.Sprintf("Definition %q has: %s. Another one needs: %s.", in.out.Definition, words.Sorted(s.known), words.Sorted(lacking(b)))))
	}
}

// checkUnread reports secrets and databases of the service that the definition does not
// have, and that nothing in the service reads: their names are misspelt.
func (in *instance) checkUnread() {
	for _, b := range slices.Concat(in.block.All("secret"), in.block.All("database")) {
		known := in.written.Labels(b.Type.Name)
		if b.Type == schema.SecretType {
			for _, p := range in.out.Passwords() {
				known = append(known, p.Secret)
			}
		}
		if !in.definition.Complete() || slices.Contains(known, b.Label) || in.definition.One(b.Type.Name, b.Label) != nil && in.reads(b) {
			continue
		}
		in.report.Error(b.LabelRange, fmt.Sprintf("There is no %s %q", b.Type.Label, b.Label), "%s", words.WithHint(words.DidYouMean(b.Label, known),
			fmt.Sprintf("Definition %q has: %s. Another one would be of use only if something in the service read it.", in.out.Definition, words.Sorted(known))))
	}
}

// reads reports whether anything in the service's block reads a secret or database.
func (in *instance) reads(b *source.Block) bool {
	var within func(*source.Block) bool
	within = func(outer *source.Block) bool {
		if outer.Type == schema.MountType && b.Type == schema.SecretType && outer.Label == b.Label {
			return true
		}
		for _, attr := range outer.Attributes {
			for _, t := range in.memo.references(attr.Expr) {
				if name, ok := addrs.NameOf(t); ok && t.RootName() == b.Type.Name && name == b.Label {
					return true
				}
			}
		}
		return slices.ContainsFunc(outer.Blocks, within)
	}
	return within(in.block)
}

// checkAllReplicas reports replicas that nothing can have.
func (in *instance) checkAllReplicas() {
	if in.forAll == nil || !in.definition.Complete() {
		return
	}
	countable := slices.DeleteFunc(slices.Clone(in.out.Workloads), func(w configs.Workload) bool { return w.Kind == "DaemonSet" })
	switch {
	case len(countable) == 0:
		in.user.unsuitable(in.block, "replicas", "Definition %q has nothing that replicas could be counted of: a DaemonSet has one pod on each node of its role.", in.out.Definition)
	case len(in.capped) == len(countable):
		in.report.Warn(in.block.AttributeRange("replicas"), "Fewer pods than asked for", "No workload of definition %q can cope with that many: %s.", in.out.Definition, words.Sorted(in.capped))
	}
}

// exposesAsSaid reports whether it is known which ports are meant to be reached from
// outside.
func (in *instance) exposesAsSaid() bool {
	return in.definition.Complete() && !slices.ContainsFunc(in.definition.All("port"), func(b *source.Block) bool {
		return !in.inner.settled(b, "expose")
	})
}

// imagesKnown reports whether it is known which images the definition names.
func (in *instance) imagesKnown() bool {
	pods := slices.Concat(in.definition.All("workload"), in.definition.All("job"))
	for _, b := range in.definition.All("workload") {
		pods = append(pods, slices.Concat(b.All("init"), b.All("sidecar"))...)
	}
	return in.definition.Complete() && !slices.ContainsFunc(pods, func(b *source.Block) bool { return !in.inner.settled(b, "image") })
}

func (in *instance) whyInside(p configs.Port) string {
	if !p.Exposed {
		return "the definition does not mean it to be"
	}
	return "the service has no exposure (expose = exposure.NAME)"
}

// inOrder are the services in the order of the source.
func (g *graph) inOrder() []*instance {
	return inSourceOrder(slices.Clone(g.services), func(in *instance) hcl.Range { return in.out.Range })
}
