package openstack

import (
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/client-go/applyconfigurations/core/v1"

	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/lang/escape"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/secrets"
)

func opaque(name string) *corev1.SecretApplyConfiguration {
	return corev1.Secret(name, "").WithType("Opaque")
}

func annotate(o providers.Object, key, value string) {
	mark(o.Manifest, "annotations", map[string]string{key: value})
}

// derived makes the Secret whose values are put together from literals, from
// generated values and from sensitive variables. Its name carries a hash over the
// recipe and over the revisions of what goes into it: never over a value. What
// comes from variables has a Secret of its own, so that it has a revision too.
//
// into names the syntax at a place in a value, such as SQL or a URL, from the text before and
// the text after that place.
func (s *service) derived(base string, values map[string]configs.Text, into placing) providers.Object {
	d := derivation{service: s, base: base, into: into, given: map[string]string{}, data: map[string]providers.SecretData{}}
	for _, key := range slices.Sorted(maps.Keys(values)) {
		d.value(key, values[key])
	}
	if len(d.given) > 0 {
		d.recipe = append(d.recipe, s.addInputs(d.inputs(), d.given, d.givenLater))
		d.sources = append(d.sources, s.address("Secret", d.inputs()))
	}
	d.deferred = unique(d.deferred)
	o := s.object(opaque(versioned(base, d.deferred, d.recipe...)).WithImmutable(true), d.sources...)
	o.Deferred = d.deferred
	o.Data = d.data
	o.Family = s.address("Secret", base)
	return o
}

// revised gives a Secret a name for its values, and with that a checksum, whose key is
// there before it.
func (r *renderer) revised(o *providers.Object, revision string) {
	annotate(*o, providers.AnnotationRevision, revision)
	name := secrets.ChecksumSecret(r.config.Cloud.Name)
	address := addrs.Object{Block: r.cloudBlock(), Kind: "Secret", Name: name}
	o.DependsOn = unique(append(o.DependsOn, address))
	if r.keyed {
		return
	}
	r.keyed = true
	u := r.convert(opaque(name))
	u.SetNamespace(r.config.Cloud.Namespace)
	u.SetLabels(r.labels(""))
	u.SetAnnotations(addressAnnotation(address))
	r.add(providers.Object{
		Address:   address,
		Manifest:  u,
		Data:      secrets.ChecksumData(),
		DependsOn: []addrs.Object{r.namespaceAddress()},
		Source:    source(r.config.Cloud.Range),
	})
}

// addInputs adds the Secret that holds the given values, and returns their revision.
// There is none yet where some of them are known later.
func (s *service) addInputs(name string, given map[string]string, later []string) string {
	o := s.object(opaque(name))
	o.Data = map[string]providers.SecretData{}
	for key, value := range given {
		o.Data[key] = literal(value)
	}
	o.Deferred = unique(later)
	revision := configs.KnownAfterApply
	if len(later) == 0 {
		revision = s.facts.Revision(o.Address, s.config.Cloud.Namespace, name, given)
	}
	s.revised(&o, revision)
	s.add(o)
	return revision
}

// derivation is a derived Secret in the making.
type derivation struct {
	*service
	base    string
	into    placing
	recipe  []string
	sources []addrs.Object
	given   map[string]string // values of sensitive variables, by key in the inputs
	data    map[string]providers.SecretData
	// deferred is what has to be read before all of it is known, and givenLater
	// before what is given is.
	deferred, givenLater []string
}

func (d *derivation) inputs() string { return d.base + "-inputs" }

func (d *derivation) value(key string, text configs.Text) {
	var parts []providers.DataPart
	var known []foreign // one for each part
	d.recipe = append(d.recipe, key)
	d.deferred = append(d.deferred, text.Deferred()...)
	for _, p := range text {
		if p.Deferred != nil {
			p.Literal = configs.KnownAfterApply
		}
		switch {
		case p.Secret != nil:
			source := d.secret(p.Secret.Service, p.Secret.Secret)
			parts = append(parts, d.from(source.address.Name, p.Secret.Key))
			parts[len(parts)-1].Place = escape.Place(p.Secret.Within)
			known = append(known, d.foreign(source, *p.Secret))
			d.recipe = append(d.recipe, source.address.Name, p.Secret.Key, source.revision)
			d.sources = append(d.sources, source.address)
			d.deferred = append(d.deferred, source.deferred...)
		case p.Sensitive:
			input := fmt.Sprintf("value-%d", len(d.given))
			d.given[input] = p.Literal
			d.givenLater = append(d.givenLater, p.Deferred...)
			parts = append(parts, d.from(d.inputs(), input))
			known = append(known, foreign{value: p.Literal, known: len(p.Deferred) == 0, what: "A value from a sensitive variable", at: d.decl.Range})
			d.recipe = append(d.recipe, input)
		case len(parts) > 0 && parts[len(parts)-1].From == nil:
			parts[len(parts)-1].Literal += p.Literal
		default:
			parts = append(parts, providers.DataPart{Literal: p.Literal})
			known = append(known, foreign{})
		}
	}
	d.recipe = append(d.recipe, place(parts, d.into)...)
	d.check(key, parts, known)
	d.data[key] = providers.SecretData{Parts: parts}
}

func (d *derivation) from(name, key string) providers.DataPart {
	return providers.DataPart{From: &providers.SecretKey{Namespace: d.config.Cloud.Namespace, Name: name, Key: key}}
}
