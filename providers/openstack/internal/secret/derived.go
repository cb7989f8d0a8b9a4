package secret

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/lang/escape"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/openstack/internal/object"
)

// Derived returns a Secret whose values are joined from literals, generated values and sensitive
// variables. Its name has a hash of the recipe and of the revisions of its sources, and never of
// a value. Values from variables go into a second Secret, so that they have a revision too: it
// comes first, if there is one.
//
// into returns the syntax at a place in a value, such as SQL or a URL, from the text before and
// after the place.
func (set *Set) Derived(s object.Service, base string, values map[string]configs.Text, into Placing) (objects []providers.Object, diags hcl.Diagnostics) {
	d := derivation{set: set, service: s, base: base, into: into, given: map[string]string{}, data: map[string]providers.SecretData{}}
	for _, key := range slices.Sorted(maps.Keys(values)) {
		d.value(key, values[key])
	}
	if len(d.given) > 0 {
		inputs, revision := d.inputObject()
		objects = append(objects, inputs)
		d.recipe = append(d.recipe, revision)
		d.sources = append(d.sources, inputs.Address)
	}
	d.deferred = object.Unique(d.deferred)
	o := s.Object(object.Opaque(object.Versioned(base, d.deferred, d.recipe...)).WithImmutable(true), d.sources...)
	o.Deferred = d.deferred
	o.Data = d.data
	o.Family = s.Address("Secret", base)
	return append(objects, o), d.diags
}

// derivation collects the parts of a derived Secret.
type derivation struct {
	set     *Set
	service object.Service
	base    string
	into    Placing
	recipe  []string
	sources []addrs.Object
	given   map[string]string // values of sensitive variables, by key in the inputs Secret
	data    map[string]providers.SecretData
	// deferred are the reads that must happen before the whole Secret is known. givenLater are
	// the reads before the given values are known.
	deferred, givenLater []string
	diags                hcl.Diagnostics
}

// Parts returns the parts of a text, whose secrets are in the cluster. It is nil if a part comes from
// elsewhere: a sensitive variable, or data that are read later.
func (set *Set) Parts(text configs.Text) []providers.DataPart {
	var parts []providers.DataPart
	for _, p := range text {
		switch {
		case p.Deferred != nil, p.Sensitive:
			return nil
		case p.Secret != nil:
			source := set.Get(p.Secret.Service, p.Secret.Secret)
			parts = append(parts, providers.DataPart{
				From:  &providers.SecretKey{Namespace: set.cloud.Decl.Namespace, Name: source.Address.Name, Key: p.Secret.Key},
				Place: escape.Place(p.Secret.Within),
			})
		default:
			parts = append(parts, providers.DataPart{Literal: p.Literal})
		}
	}
	place(parts, func(string, string) escape.Place { return "" })
	return parts
}

// inputObject returns the Secret with the given values, and their revision. If some of them are
// known later, the revision is configs.KnownAfterApply.
func (d *derivation) inputObject() (o providers.Object, revision string) {
	o = d.service.Object(object.Opaque(d.inputs()))
	o.Data = map[string]providers.SecretData{}
	for key, value := range d.given {
		o.Data[key] = object.Literal(value)
	}
	o.Deferred = object.Unique(d.givenLater)
	revision = configs.KnownAfterApply
	if len(d.givenLater) == 0 {
		revision = d.set.facts.Revision(o.Address, d.set.cloud.Decl.Namespace, d.inputs(), d.given)
	}
	d.set.revise(&o, revision)
	return o, revision
}

// inputs returns the name of the Secret with the given values.
func (d *derivation) inputs() string { return d.base + "-inputs" }

// value adds the value of a key.
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
			source := d.set.Get(p.Secret.Service, p.Secret.Secret)
			parts = append(parts, d.from(source.Address.Name, p.Secret.Key))
			parts[len(parts)-1].Place = escape.Place(p.Secret.Within)
			known = append(known, d.foreign(source, *p.Secret))
			d.recipe = append(d.recipe, source.Address.Name, p.Secret.Key, source.Revision)
			d.sources = append(d.sources, source.Address)
			d.deferred = append(d.deferred, source.Deferred...)
		case p.Sensitive:
			input := fmt.Sprintf("value-%d", len(d.given))
			d.given[input] = p.Literal
			d.givenLater = append(d.givenLater, p.Deferred...)
			parts = append(parts, d.from(d.inputs(), input))
			known = append(known, foreign{value: p.Literal, known: len(p.Deferred) == 0, what: "A value from a sensitive variable", at: d.service.Decl.Range})
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

// from returns a part that is copied from a Secret.
func (d *derivation) from(name, key string) providers.DataPart {
	return providers.DataPart{From: &providers.SecretKey{Namespace: d.set.cloud.Decl.Namespace, Name: name, Key: key}}
}

// foreign is a value that kolla did not generate, as far as the plan knows it.
type foreign struct {
	value string
	known bool
	what  string // description, for the start of a sentence
	at    hcl.Range
}

// foreign returns the value of the secret under a key, if the plan knows it.
func (d *derivation) foreign(s *Secret, ref configs.SecretRef) foreign {
	f := foreign{what: fmt.Sprintf("The value of secret %q", s.decl.Name), at: d.service.Decl.Range}
	if ref.Service != "" {
		f.what += fmt.Sprintf(" of service %q", ref.Service)
	}
	if source := s.decl.Source; source != nil {
		f.what += ", which comes from " + originOf(source) + ","
		f.at = source.Range
		f.value, f.known = s.values[ref.Key]
		return f
	}
	if d.set.facts.Values == nil || s.renew != "" {
		return f
	}
	f.what += ", which somebody put into " + strings.TrimSuffix(d.from(s.Address.Name, ref.Key).From.String(), ",") + ","
	value, there := d.set.live(s)[ref.Key]
	f.value, f.known = string(value), there
	return f
}

// check reports values that cannot be written at their places. Values that are not known yet
// are checked by the apply.
func (d *derivation) check(key string, parts []providers.DataPart, known []foreign) {
	for i, f := range known {
		if !f.known {
			continue
		}
		if _, err := escape.Into(parts[i].Place, f.value); err != nil {
			at := f.at
			if at.Filename == "" {
				at = d.service.Decl.Range
			}
			d.diags = append(d.diags, object.Error(at, "A value that cannot stand there", fmt.Sprintf("%s goes into %s of service %q: %s.", f.what, cmp.Or(key, "a Secret"), d.service.Decl.Name, err)))
		}
	}
}
