package network

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	gateway "sigs.k8s.io/gateway-api/apis/v1"
	gatewayv1 "sigs.k8s.io/gateway-api/applyconfiguration/apis/v1"
	gatewayv1beta1 "sigs.k8s.io/gateway-api/applyconfiguration/apis/v1beta1"

	"kolla.openstack.org/kolla/internal/base/words"
	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/kinds"
	"kolla.openstack.org/kolla/providers/openstack/internal/object"
)

var certificates = kinds.Certificate.WithVersion("v1")

// Edge returns the objects of exposures that belong to no service: the requests to cert-manager, and the
// permissions for Gateways of other namespaces to use certificates.
func Edge(cloud object.Cloud, config *configs.Config) []providers.Object {
	var out []providers.Object
	for _, x := range issued(config) {
		out = append(out, requests(cloud, config, x)...)
	}
	for _, x := range inUse(config) {
		if x.TLS != nil && x.Mode == configs.ModeGateway && cmp.Or(x.Gateway.Namespace, config.Cloud.Namespace) != config.Cloud.Namespace {
			out = append(out, ofExposure(cloud, x, cloud.Manifest(grantOf(x)), nil))
		}
	}
	return out
}

// ofExposure returns an object of an exposure.
func ofExposure(cloud object.Cloud, x *configs.Exposure, u *unstructured.Unstructured, deferred []string) providers.Object {
	address := addrs.Object{Block: x.Block, Kind: u.GetKind(), Name: u.GetName()}
	u.SetNamespace(cloud.Decl.Namespace)
	if !cloud.NamesOnly {
		u.SetLabels(cloud.Labels())
		u.SetAnnotations(object.AddressAnnotation(address))
	}
	return providers.Object{
		Address: address, Manifest: u, DependsOn: []addrs.Object{cloud.Namespace()}, Deferred: deferred,
		Source: object.Source(x.TLS.Range),
	}
}

// requests returns the Certificate that cert-manager makes the Secret of an exposure from. There is none
// while clients have no name for the exposure.
func requests(cloud object.Cloud, config *configs.Config, x *configs.Exposure) []providers.Object {
	issuer := x.TLS.Issuer
	names, addresses := slices.Clone(issuer.DNSNames), slices.Clone(issuer.IPAddresses)
	for _, host := range config.Hosts(x) {
		switch {
		case host == x.VIP:
			addresses = append(addresses, host)
		case !configs.Covers(names, host): // ACME servers refuse names that a wildcard covers
			names = append(names, host)
		}
	}
	if len(names)+len(addresses) == 0 && len(issuer.Deferred) == 0 {
		return nil
	}
	spec := map[string]any{
		"secretName": x.TLS.Secret,
		"issuerRef":  map[string]any{"group": kinds.Issuer.Group, "kind": issuer.Kind, "name": issuer.Name},
		"privateKey": map[string]any{"algorithm": algorithms[issuer.Algorithm]},
		"usages":     []any{"digital signature", "key encipherment", "server auth"},
	}
	set := func(field string, list []string) {
		if len(list) > 0 {
			spec[field] = anyOf(list)
		}
	}
	set("dnsNames", names)
	set("ipAddresses", object.Unique(addresses))
	if issuer.Days > 0 {
		spec["duration"] = hours(issuer.Days)
	}
	if issuer.RenewBefore > 0 {
		spec["renewBefore"] = hours(issuer.RenewBefore)
	}
	u := &unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{"name": x.TLS.Secret}}}
	u.SetGroupVersionKind(certificates)
	if !cloud.NamesOnly {
		u.Object["spec"] = spec
	}
	return []providers.Object{ofExposure(cloud, x, u, issuer.Deferred)}
}

// algorithms are the names of cert-manager for the algorithms of keys.
var algorithms = map[string]string{"ecdsa": "ECDSA", "ed25519": "Ed25519", "rsa": "RSA"}

// hours returns a number of days as a duration, which has no unit longer than an hour.
func hours(days int) string { return fmt.Sprintf("%dh", days*24) }

// anyOf converts a list for a manifest.
func anyOf(list []string) []any {
	var out []any
	for _, text := range list {
		out = append(out, text)
	}
	return out
}

// grantOf returns the permission for Gateways in the namespace of an exposure's Gateway to use the Secret
// with its certificate. All versions of the Gateway API serve v1beta1.
func grantOf(x *configs.Exposure) *gatewayv1beta1.ReferenceGrantApplyConfiguration {
	return gatewayv1beta1.ReferenceGrant("exposure-"+x.Name, "").WithSpec(gatewayv1.ReferenceGrantSpec().
		WithFrom(gatewayv1.ReferenceGrantFrom().WithGroup(gateway.Group(kinds.Gateway.Group)).WithKind(gateway.Kind(kinds.Gateway.Kind)).WithNamespace(gateway.Namespace(x.Gateway.Namespace))).
		WithTo(gatewayv1.ReferenceGrantTo().WithGroup("").WithKind(gateway.Kind(kinds.Secret.Kind)).WithName(gateway.ObjectName(x.TLS.Secret))))
}

// issued returns the exposures whose certificates come from cert-manager.
func issued(config *configs.Config) []*configs.Exposure {
	var out []*configs.Exposure
	for i := range config.Exposures {
		if x := &config.Exposures[i]; x.TLS != nil && x.TLS.Issuer != nil {
			out = append(out, x)
		}
	}
	return out
}

// issuersOf returns the list of the issuers of an exposure's kind.
func issuersOf(config *configs.Config, issuer *configs.Issuer) providers.Scope {
	if kind := kinds.ClusterIssuer; issuer.Kind == kind.Kind {
		return providers.Scope{GVK: kind.WithVersion("v1")}
	}
	return providers.Scope{GVK: kinds.Issuer.WithVersion("v1"), Namespace: config.Cloud.Namespace}
}

// checkIssuer looks for cert-manager and the issuer of an exposure.
func checkIssuer(config *configs.Config, x *configs.Exposure, list lister) (hcl.Diagnostics, error) {
	issuer := x.TLS.Issuer
	scope := issuersOf(config, issuer)
	_, err := list(providers.Scope{GVK: certificates, Namespace: config.Cloud.Namespace})
	var live []*unstructured.Unstructured
	if err == nil {
		live, err = list(scope)
	}
	switch {
	case meta.IsNoMatchError(err) && brings(config, certificates.GroupKind()):
		return nil, nil
	case meta.IsNoMatchError(err):
		return hcl.Diagnostics{object.Error(issuer.Range, "The cluster does not have cert-manager",
			fmt.Sprintf("Exposure %q takes its certificate from %s %q, which needs the kinds %s and %s of %s. Install cert-manager first. Or remove `issuer`: kolla then makes the certificate, or set `secret_name` or `certificate_file`.",
				x.Name, issuer.Kind, issuer.Name, certificates.Kind, issuer.Kind, certificates.GroupVersion()))}, nil
	case err != nil || len(issuer.Deferred) > 0:
		return nil, err
	}
	live = append(live, inManifests(config, issuer.Kind, scope.Namespace)...)
	var names []string
	for _, u := range live {
		names = append(names, u.GetName())
	}
	if slices.Contains(names, issuer.Name) {
		return nil, nil
	}
	slices.Sort(names)
	summary := fmt.Sprintf("The cluster has no %s %q", issuer.Kind, issuer.Name)
	if scope.Namespace != "" {
		summary = fmt.Sprintf("Namespace %q has no %s %q", scope.Namespace, issuer.Kind, issuer.Name)
	}
	return hcl.Diagnostics{object.Warning(issuer.Range, summary,
		words.WithHint(words.DidYouMean(issuer.Name, names), "cert-manager makes no certificate without it, and an apply waits for the certificate until its time is over. "+known(issuer.Kind+"s", names)))}, nil
}
