package charts

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/secrets"
)

// recipes are the Secrets that other Secrets and pods use, by name. The Secrets that are derived
// from them are not among them.
type recipes map[string]*recipe

// recipe says how a chart makes a Secret. Charts contain it in JSON.
type recipe struct {
	// Owner is the chart that makes the Secret. It is empty if the Secret is in another namespace, or
	// if each release may make it.
	Owner     string `json:"owner,omitempty"`
	Namespace string `json:"namespace,omitempty"` // empty: that of the release
	// Command makes the Secret, if no chart can generate its values.
	Command     string               `json:"command,omitempty"`
	Keys        map[string]generator `json:"keys"`
	Certificate *certificate         `json:"certificate,omitempty"` // makes tls.crt, tls.key and ca.crt

	uses []string // Secrets that the values are made from
}

// generator makes one value.
type generator struct {
	Kind   string   `json:"kind,omitempty"`
	Length int      `json:"length,omitempty"`
	Copy   []string `json:"copy,omitempty"` // Secret, key, and the places that the value is escaped for
}

type certificate struct {
	Issuer     string   `json:"issuer,omitempty"` // Secret of the CA; empty: a CA
	Algorithm  string   `json:"algorithm"`
	CommonName string   `json:"commonName"`
	DNSNames   []string `json:"dnsNames"`
	Addresses  []string `json:"addresses"`
	Days       int      `json:"days"`
}

// recipesOf returns the recipes for all Secrets of the cloud, also those of services that are not exported.
func recipesOf(c *cloud) recipes {
	out := recipes{}
	namespace := c.Config.Cloud.Namespace
	for i := range c.Objects {
		if o := &c.Objects[i]; o.Address.Kind == "Secret" && len(o.Data) > 0 && o.Family.Name == "" {
			out[o.Address.Name] = recipeOf(o, c.owner(o), namespace)
		}
	}
	for i := range c.Objects {
		for _, data := range c.Objects[i].Data {
			for _, part := range data.Parts {
				from := part.From
				if from == nil || from.Namespace == namespace && out[from.Name] != nil {
					continue
				}
				outside, ok := out[from.Name]
				if !ok {
					outside = &recipe{Namespace: from.Namespace, Keys: map[string]generator{}}
					out[from.Name] = outside
				}
				outside.Keys[from.Key] = generator{}
				outside.Command = createCommand(from.Name, from.Namespace, outside.Keys)
			}
		}
	}
	return out
}

// owner returns the name of the chart that makes a Secret.
func (c *cloud) owner(o *providers.Object) string {
	if o.Address.Name == secrets.ChecksumSecret(c.Config.Cloud.Name) {
		return ""
	}
	for i := range c.Config.Services {
		if s := &c.Config.Services[i]; s.Block == o.Address.Block {
			return s.Name
		}
	}
	return c.umbrella.name
}

// recipeOf returns the recipe of a Secret that is not derived from others.
func recipeOf(o *providers.Object, owner, namespace string) *recipe {
	r := &recipe{Owner: owner, Keys: map[string]generator{}}
	name, given := o.Address.Name, false
	if own := o.Manifest.GetNamespace(); own != namespace {
		r.Namespace, namespace = own, own
	}
	for _, key := range slices.Sorted(maps.Keys(o.Data)) {
		data := o.Data[key]
		g := data.Generate
		switch {
		case g == nil && len(data.Parts) == 1 && data.Parts[0].From != nil && !isItself(o, data.Parts[0].From):
			from := data.Parts[0].From
			r.Keys[key] = generator{Copy: append([]string{from.Name, from.Key}, places(data.Parts[0])...)}
			r.uses = append(r.uses, from.Name)
		case g == nil:
			given = true
			r.Keys[key] = generator{}
		case g.Kind == "ssh":
			r.Keys[key] = generator{}
			r.Command = fmt.Sprintf("ssh-keygen -q -t %s -N '' -C '' -f key && kubectl create secret generic %s --namespace %s --from-file=%s=key --from-file=%s=key.pub",
				g.Algorithm, name, namespace, configs.KeyPrivate, configs.KeyPublic)
		case g.Cert != nil:
			r.Keys[key] = generator{}
			r.Certificate = &certificate{
				Algorithm: g.Algorithm, CommonName: g.Cert.CommonName, DNSNames: g.Cert.DNSNames, Addresses: g.Cert.IPAddresses, Days: g.Cert.Days,
			}
			if issuer := g.Cert.Issuer; issuer != nil {
				r.Certificate.Issuer = issuer.Name
				r.uses = append(r.uses, issuer.Name)
			}
		default:
			r.Keys[key] = generator{Kind: g.Kind, Length: g.Length}
		}
	}
	if given {
		r.Command = createCommand(name, namespace, r.Keys)
	}
	return r
}

// createCommand returns the command that makes a Secret from files.
func createCommand(name, namespace string, keys map[string]generator) string {
	command := fmt.Sprintf("kubectl create secret generic %s --namespace %s", name, namespace)
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		command += " --from-file=" + key + "=FILE"
	}
	return command
}

// isItself reports whether a value comes from the Secret itself, which another program makes.
func isItself(o *providers.Object, from *providers.SecretKey) bool {
	return from.Name == o.Address.Name && from.Namespace == o.Manifest.GetNamespace()
}

// places returns the places that a copied value is escaped for, the innermost first.
func places(part providers.DataPart) []string {
	if part.Place == "" {
		return nil
	}
	return strings.Split(string(part.Place), "+")
}

// secret replaces the values of a Secret: front and back surround the template. A Secret with generated
// values is left out if an existing one takes its place, and Helm keeps it when the release is removed.
func (t *template) secret(o *providers.Object, manifest map[string]any) (front, back string) {
	if len(o.Data) == 0 {
		return "", ""
	}
	name, data := o.Address.Name, map[string]any{}
	if o.Family.Name == "" {
		for key := range o.Data {
			data[key] = t.action(fmt.Sprintf("include \"kolla.value\" (list . %q %q) | b64enc", name, key))
		}
		t.uses[name] = true
		metadata := manifest["metadata"].(map[string]any)
		annotations, _ := metadata["annotations"].(map[string]any)
		if annotations == nil {
			annotations = map[string]any{}
			metadata["annotations"] = annotations
		}
		annotations["helm.sh/resource-policy"] = "keep"
		manifest["data"] = data
		return fmt.Sprintf("{{- if include \"kolla.makes\" (list . %q) }}\n", name), "{{- end }}\n"
	}
	var content []string
	for _, key := range slices.Sorted(maps.Keys(o.Data)) {
		helper := t.helper(o) + ".content"
		if len(o.Data) > 1 {
			helper += "." + key
		}
		own := &template{built: t.built}
		var text strings.Builder
		for _, part := range o.Data[key].Parts {
			if part.From == nil {
				text.WriteString(escape(own.outside(part.Literal)))
				continue
			}
			t.uses[part.From.Name] = true
			list := fmt.Sprintf("%q %q", part.From.Name, part.From.Key)
			for _, place := range places(part) {
				list += fmt.Sprintf(" %q", place)
			}
			text.WriteString(own.action(fmt.Sprintf("include \"kolla.value\" (list . %s)", list)))
		}
		t.defineExactly(helper, own.expand(text.String()))
		include := fmt.Sprintf("include %q .", helper)
		content = append(content, include)
		data[key] = t.action(include + " | b64enc")
	}
	manifest["data"] = data
	t.uses[secrets.ChecksumSecret(t.cloud.Config.Cloud.Name)] = true
	t.defineName(o, strings.Join(content, ") ("), true)
	return "", ""
}

// define adds the recipes of the Secrets that the chart uses, and the values that name existing ones.
func (b *built) recipes() {
	var add func(name string)
	done := map[string]bool{}
	add = func(name string) {
		if done[name] {
			return
		}
		done[name] = true
		r := b.cloud.recipes[name]
		t := &template{built: b}
		written := *r
		if c := r.Certificate; c != nil {
			replaced := *c
			replaced.CommonName = t.outside(c.CommonName)
			replaced.DNSNames, replaced.Addresses = t.all(c.DNSNames), t.all(c.Addresses)
			written.Certificate = &replaced
		}
		b.define("kolla.recipe."+name, t.expand(escape(marshal(written))))
		note := "keys: " + strings.Join(slices.Sorted(maps.Keys(r.Keys)), ", ")
		if r.Command != "" {
			note += "; must exist: " + r.Command
		}
		if r.Namespace == "" || r.Namespace == b.cloud.Config.Cloud.Namespace {
			b.values.leaf("", word, "global", "secrets", name)
			b.values.note(note, "global", "secrets", name)
		}
		for _, other := range r.uses {
			add(other)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(b.uses)) {
		add(name)
	}
}

// all is outside for each of several texts.
func (t *template) all(texts []string) []string {
	out := []string{}
	for _, text := range texts {
		out = append(out, t.outside(text))
	}
	return out
}
