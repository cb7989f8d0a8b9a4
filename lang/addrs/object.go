package addrs

import (
	"fmt"
	"strings"
)

// Object names one desired Kubernetes object of a configuration, by the block that declares
// the object, and by the kind and name of the object. Its text form is
//
//	service.keystone/Deployment/keystone-api
//	cloud.prod/Namespace/openstack
//	role.control/Node/ctl-1
//	manifest.dashboards/ConfigMap/monitoring/grafana
//
// The namespace is left out for objects in the cloud's namespace, and for cluster-scoped
// objects.
type Object struct {
	Block     string // "service.keystone"; with a key: `service.redis["cache"]`
	Kind      string // Kubernetes kind, "Deployment"
	Namespace string // empty: the cloud's namespace, or none
	Name      string // metadata.name
}

// String returns the text form. ParseObject reads it.
func (o Object) String() string {
	if o.Namespace != "" {
		return o.Block + "/" + o.Kind + "/" + o.Namespace + "/" + o.Name
	}
	return o.Block + "/" + o.Kind + "/" + o.Name
}

// Compare orders objects by block, kind, namespace and name, for slices.SortFunc.
func (o Object) Compare(other Object) int {
	for _, c := range []int{
		strings.Compare(o.Block, other.Block),
		strings.Compare(o.Kind, other.Kind),
		strings.Compare(o.Namespace, other.Namespace),
		strings.Compare(o.Name, other.Name),
	} {
		if c != 0 {
			return c
		}
	}
	return 0
}

// MarshalText writes the text form, so that objects are strings and map keys in JSON.
func (o Object) MarshalText() ([]byte, error) { return []byte(o.String()), nil }

// UnmarshalText reads the text form.
func (o *Object) UnmarshalText(text []byte) error {
	parsed, err := ParseObject(string(text))
	if err != nil {
		return err
	}
	*o = parsed
	return nil
}

// ParseObject reads the text form. Slashes inside the quoted key of a block belong to the
// key.
func ParseObject(text string) (Object, error) {
	block, rest, ok := cutBlock(text)
	parts := strings.Split(rest, "/")
	for _, part := range parts {
		ok = ok && part != ""
	}
	switch {
	case ok && len(parts) == 2:
		return Object{Block: block, Kind: parts[0], Name: parts[1]}, nil
	case ok && len(parts) == 3:
		return Object{Block: block, Kind: parts[0], Namespace: parts[1], Name: parts[2]}, nil
	}
	return Object{}, fmt.Errorf("%q is not an object's address: expected BLOCK/KIND/NAME, such as service.keystone/Deployment/keystone-api", text)
}

// cutBlock splits an address at the first slash outside of a quoted key.
func cutBlock(text string) (block, rest string, ok bool) {
	quoted := false
	for i := 0; i < len(text); i++ {
		switch {
		case text[i] == '\\' && quoted:
			i++
		case text[i] == '"':
			quoted = !quoted
		case text[i] == '/' && !quoted:
			return text[:i], text[i+1:], strings.Contains(text[:i], ".")
		}
	}
	return "", "", false
}
