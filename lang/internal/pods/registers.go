package pods

import (
	"github.com/zclconf/go-cty/cty"

	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/lang/internal/eval"
	"kolla.openstack.org/kolla/lang/internal/source"
	"kolla.openstack.org/kolla/lang/mark"
)

// The types of the elements of users and endpoints. They may have more attributes.
var (
	registeredUsers     = cty.List(cty.Object(map[string]cty.Type{"name": cty.String, "domain": cty.String, "project": cty.String, "roles": cty.List(cty.String)}))
	registeredEndpoints = cty.List(cty.Object(map[string]cty.Type{"type": cty.String, "name": cty.String, "url": cty.String, "public_url": cty.String}))
)

// registration evaluates a registers block. It returns nil if a value is not known yet, or wrong.
func registration(e *eval.Env, b *source.Block) *configs.Registration {
	if waits(e, b) {
		return nil
	}
	password, given := secret(e, b, "password")
	r := &configs.Registration{
		URL: eval.String(e, b, "url"), Username: eval.String(e, b, "username"),
		Region: eval.String(e, b, "region"), Owner: eval.String(e, b, "owner"), Roles: eval.List(e, b, "roles"),
	}
	for _, v := range listOf(e, b, "users", registeredUsers) {
		user := configs.RegisteredUser{Name: text(v, "name"), Domain: text(v, "domain"), Project: text(v, "project")}
		if roles := v.GetAttr("roles"); !roles.IsNull() {
			for _, role := range roles.AsValueSlice() {
				user.Roles = append(user.Roles, role.AsString())
			}
		}
		r.Users = append(r.Users, user)
	}
	for _, v := range listOf(e, b, "endpoints", registeredEndpoints) {
		r.Endpoints = append(r.Endpoints, configs.RegisteredEndpoint{Type: text(v, "type"), Name: text(v, "name"), Internal: text(v, "url"), Public: text(v, "public_url")})
	}
	known := eval.AllKnown(e, b, "url", "username", "password", "region", "owner", "users", "roles", "endpoints")
	if !known || r.URL == "" || r.Username == "" || r.Region == "" || !given {
		return nil
	}
	r.Password = *password
	return r
}

// secret evaluates an attribute that has to be the value of a secret. ok is false if it is not given, not
// known yet, or wrong.
func secret(e *eval.Env, b *source.Block, name string) (ref *configs.SecretRef, ok bool) {
	text, given := eval.Text(e, b, name)
	switch {
	case !given || len(text) == 0 || !eval.AllKnown(e, b, name):
		return nil, false
	case len(text) != 1 || text[0].Secret == nil:
		eval.Unsuitable(e, b, name, "It must be the value of a secret of kolla, such as secret.admin.value: a plan reads it from the cluster.")
		return nil, false
	}
	return text[0].Secret, true
}

// listOf evaluates a list of objects that everybody may see.
func listOf(e *eval.Env, b *source.Block, name string, want cty.Type) []cty.Value {
	v, ok := eval.PublicAttribute(e, b, name, want)
	if !ok {
		return nil
	}
	var out []cty.Value
	for _, item := range mark.Elements(v) {
		if bare, _ := item.UnmarkDeep(); !bare.IsNull() {
			out = append(out, bare)
		}
	}
	return out
}

// text returns a string in an object; empty: it is null.
func text(of cty.Value, name string) string {
	v := of.GetAttr(name)
	if v.IsNull() {
		return ""
	}
	return v.AsString()
}
