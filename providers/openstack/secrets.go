package openstack

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/client-go/applyconfigurations/core/v1"

	"kolla.openstack.org/kolla/lang"
	"kolla.openstack.org/kolla/providers"
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
func (s *service) derived(base string, values map[string]lang.Text) providers.Object {
	d := derivation{service: s, base: base, given: map[string]string{}, data: map[string]providers.SecretData{}}
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

// addInputs adds the Secret that holds the given values, and returns their revision.
// There is none yet where some of them are known later.
func (s *service) addInputs(name string, given map[string]string, later []string) string {
	o := s.object(opaque(name))
	o.Data = map[string]providers.SecretData{}
	for key, value := range given {
		o.Data[key] = literal(value)
	}
	o.Deferred = unique(later)
	revision := lang.KnownAfterApply
	if len(later) == 0 {
		revision = s.facts.Revision(o.Address, s.config.Cloud.Namespace, name, given)
	}
	annotate(o, providers.AnnotationRevision, revision)
	s.add(o)
	return revision
}

// derivation is a derived Secret in the making.
type derivation struct {
	*service
	base    string
	recipe  []string
	sources []lang.Address
	given   map[string]string // values of sensitive variables, by key in the inputs
	data    map[string]providers.SecretData
	// deferred is what has to be read before all of it is known, and givenLater
	// before what is given is.
	deferred, givenLater []string
}

func (d *derivation) inputs() string { return d.base + "-inputs" }

func (d *derivation) value(key string, text lang.Text) {
	var parts []providers.DataPart
	d.recipe = append(d.recipe, key)
	d.deferred = append(d.deferred, text.Deferred()...)
	for _, p := range text {
		if p.Deferred != nil {
			p.Literal = lang.KnownAfterApply
		}
		switch {
		case p.Secret != nil:
			source := d.secret(p.Secret.Service, p.Secret.Secret)
			parts = append(parts, d.from(source.address.Name, p.Secret.Key))
			d.recipe = append(d.recipe, source.address.Name, p.Secret.Key, source.revision)
			d.sources = append(d.sources, source.address)
			d.deferred = append(d.deferred, source.deferred...)
		case p.Sensitive:
			input := fmt.Sprintf("value-%d", len(d.given))
			d.given[input] = p.Literal
			d.givenLater = append(d.givenLater, p.Deferred...)
			parts = append(parts, d.from(d.inputs(), input))
			d.recipe = append(d.recipe, input)
		case len(parts) > 0 && parts[len(parts)-1].From == nil:
			parts[len(parts)-1].Literal += p.Literal
		default:
			parts = append(parts, providers.DataPart{Literal: p.Literal})
		}
	}
	markInURLs(parts)
	for _, p := range parts {
		d.recipe = append(d.recipe, p.Literal)
		if p.URL {
			d.recipe = append(d.recipe, "url")
		}
	}
	d.data[key] = providers.SecretData{Parts: parts}
}

var (
	beforeCredential = regexp.MustCompile(`[a-z][a-z0-9+.-]*://[^\s/@]*$`)
	afterCredential  = regexp.MustCompile(`^[^\s/@]*@`)
)

// markInURLs marks the parts that are the user or the password in a URL, before its
// host: there, characters that mean something in a URL have to be encoded.
func markInURLs(parts []providers.DataPart) {
	text := func(parts []providers.DataPart) string {
		var b strings.Builder
		for _, p := range parts {
			if p.From != nil {
				b.WriteByte('x')
			}
			b.WriteString(p.Literal)
		}
		return b.String()
	}
	for i := range parts {
		parts[i].URL = parts[i].From != nil && beforeCredential.MatchString(text(parts[:i])) && afterCredential.MatchString(text(parts[i+1:]))
	}
}

func (d *derivation) from(name, key string) providers.DataPart {
	return providers.DataPart{From: &providers.SecretKey{Namespace: d.config.Cloud.Namespace, Name: name, Key: key}}
}
