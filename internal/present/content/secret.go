package content

import (
	"fmt"
	"slices"
	"strings"

	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers"
)

// secret lists the sources of a Secret's values. Keys with the same source are on one line.
func secret(object *providers.Object, _ int) []Line {
	byOrigin := map[string][]string{}
	for key, data := range sorted(object.Data) {
		origin := secretOrigin(data)
		byOrigin[origin] = append(byOrigin[origin], key)
	}
	out := tokenOf(object)
	for origin, keys := range sorted(byOrigin) {
		out = append(out, facts(strings.Join(keys, ", ")+" "+origin)...)
	}
	return out
}

// tokenOf describes the type of a Secret. Kubernetes fills one type with a token that does not
// expire.
func tokenOf(object *providers.Object) []Line {
	kind, _ := object.Manifest.Object["type"].(string)
	switch kind {
	case "", "Opaque":
		return nil
	case "kubernetes.io/service-account-token":
		account := object.Manifest.GetAnnotations()["kubernetes.io/service-account.name"]
		return weak("a token of service account " + account + " that does not expire")
	}
	return facts("type " + kind)
}

func secretOrigin(data providers.SecretData) string {
	switch g := data.Generate; {
	case data.Carried:
		return "(copied from Secret " + data.Parts[0].From.Name + ")"
	case data.Origin != "":
		return "(from " + data.Origin + ")"
	case g == nil:
		return plans.Masked
	case g.Kind == "ssh":
		return fmt.Sprintf("(generated key pair, %s)", g.Algorithm)
	case g.Cert != nil && g.Cert.Issuer == nil:
		return "(generated certificate authority)"
	case g.Cert != nil:
		return fmt.Sprintf("(generated certificate for %s)", strings.Join(certified(g.Cert), ", "))
	case g.Kind == "password" && g.Length > 0:
		return fmt.Sprintf("(generated password, %d characters)", g.Length)
	case (g.Kind == "hex" || g.Kind == "base64") && g.Length > 0:
		return fmt.Sprintf("(generated %s, %d bytes)", g.Kind, g.Length)
	default:
		return "(generated " + g.Kind + ")"
	}
}

// certified returns the names in a certificate.
func certified(c *providers.Certificate) []string {
	if names := slices.Concat(c.DNSNames, c.IPAddresses); len(names) > 0 {
		return names
	}
	return []string{c.CommonName}
}
