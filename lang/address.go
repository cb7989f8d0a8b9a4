package lang

import (
	"fmt"
	"strings"
)

// Address names one desired object of a configuration: the block that declares
// it, and the Kubernetes object that the block becomes. Its text form is
//
//	service.keystone/Deployment/keystone-api
//	cloud.prod/Namespace/openstack
//	role.control/Node/ctl-1
//	manifest.dashboards/ConfigMap/monitoring/grafana
//
// Namespace is set only where it differs from the cloud's own, or the object
// would be ambiguous; cluster-scoped objects have none.
type Address struct {
	Block     string // "service.keystone"; with a key: `service.redis["cache"]`
	Kind      string // Kubernetes kind, "Deployment"
	Namespace string // empty: the cloud's namespace, or none
	Name      string // metadata.name
}

// String gives the text form that ParseAddress reads.
func (a Address) String() string {
	if a.Namespace != "" {
		return a.Block + "/" + a.Kind + "/" + a.Namespace + "/" + a.Name
	}
	return a.Block + "/" + a.Kind + "/" + a.Name
}

// Compare orders addresses by block, kind, namespace, name; it suits slices.SortFunc.
func (a Address) Compare(b Address) int {
	for _, c := range []int{
		strings.Compare(a.Block, b.Block),
		strings.Compare(a.Kind, b.Kind),
		strings.Compare(a.Namespace, b.Namespace),
		strings.Compare(a.Name, b.Name),
	} {
		if c != 0 {
			return c
		}
	}
	return 0
}

// MarshalText makes addresses strings in JSON, and usable as map keys there.
func (a Address) MarshalText() ([]byte, error) { return []byte(a.String()), nil }

// UnmarshalText is the inverse of MarshalText.
func (a *Address) UnmarshalText(text []byte) error {
	parsed, err := ParseAddress(string(text))
	if err != nil {
		return err
	}
	*a = parsed
	return nil
}

// ParseAddress reads the text form of an address. Slashes inside the quoted key
// of a block belong to the key.
func ParseAddress(text string) (Address, error) {
	block, rest, ok := cutBlock(text)
	parts := strings.Split(rest, "/")
	for _, part := range parts {
		ok = ok && part != ""
	}
	switch {
	case ok && len(parts) == 2:
		return Address{Block: block, Kind: parts[0], Name: parts[1]}, nil
	case ok && len(parts) == 3:
		return Address{Block: block, Kind: parts[0], Namespace: parts[1], Name: parts[2]}, nil
	}
	return Address{}, fmt.Errorf("%q is not an object's address: expected BLOCK/KIND/NAME, such as service.keystone/Deployment/keystone-api", text)
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
