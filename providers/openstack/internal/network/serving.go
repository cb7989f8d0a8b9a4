package network

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	networking "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"kolla.openstack.org/kolla/internal/base/words"
	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/kinds"
	"kolla.openstack.org/kolla/providers/openstack/internal/object"
)

// The kinds by which programs of the cluster offer to serve exposures.
var (
	ingressClasses = kinds.IngressClass.WithVersion("v1")
	gatewayClasses = kinds.GatewayClass.WithVersion("v1")
	gateways       = kinds.Gateway.WithVersion("v1")
	httpRoutes     = kinds.HTTPRoute.WithVersion("v1")
	serviceRanges  = kinds.ServiceCIDR.WithVersion("v1")
	namespaces     = kinds.Namespace.WithVersion("v1")
	nodeKind       = kinds.Node.WithVersion("v1")
)

// ServedBy returns the lists that CheckServed needs.
func ServedBy(config *configs.Config) []providers.Scope {
	var out []providers.Scope
	for _, x := range inUse(config) {
		switch x.Mode {
		case configs.ModeManaged:
			out = append(out, providers.Scope{GVK: serviceRanges}, providers.Scope{GVK: nodeKind})
		case configs.ModeIngress:
			out = append(out, providers.Scope{GVK: ingressClasses})
		case configs.ModeGateway:
			out = append(out, providers.Scope{GVK: gateways, Namespace: cmp.Or(x.Gateway.Namespace, config.Cloud.Namespace)},
				providers.Scope{GVK: gatewayClasses}, providers.Scope{GVK: namespaces})
		}
	}
	for _, x := range issued(config) {
		out = append(out, providers.Scope{GVK: certificates, Namespace: config.Cloud.Namespace}, issuersOf(config, x.TLS.Issuer))
	}
	if usesMonitors(config) {
		out = append(out, monitors(config))
	}
	return object.Unique(out)
}

// lister returns the live objects of a scope.
type lister func(providers.Scope) ([]*unstructured.Unstructured, error)

// CheckServed reports exposures that no program of the cluster will serve: the class of the Ingresses,
// the Gateway or the issuer of the certificate is missing, no listener of the Gateway takes its routes, or the VIP is an address that the
// cluster uses itself. Only missing kinds and such VIPs are errors, because somebody may make the rest later.
// The error of list satisfies meta.IsNoMatchError if the cluster
// does not have the kind. Other errors of it are returned.
func CheckServed(config *configs.Config, list lister) (diags hcl.Diagnostics, unread error) {
	for _, x := range inUse(config) {
		var found hcl.Diagnostics
		var err error
		switch x.Mode {
		case configs.ModeManaged:
			found, err = checkVIP(x, list)
		case configs.ModeIngress:
			found, err = checkClass(config, x, list)
		case configs.ModeGateway:
			found, err = checkGateway(config, x, list)
		}
		diags, unread = append(diags, found...), errors.Join(unread, err)
	}
	for _, x := range issued(config) {
		found, err := checkIssuer(config, x, list)
		diags, unread = append(diags, found...), errors.Join(unread, err)
	}
	if usesMonitors(config) {
		found, err := checkMonitors(config, list)
		diags, unread = append(diags, found...), errors.Join(unread, err)
	}
	return diags, unread
}

// inUse returns the exposures that services use.
func inUse(config *configs.Config) []*configs.Exposure {
	var out []*configs.Exposure
	for i := range config.Exposures {
		x := &config.Exposures[i]
		if slices.ContainsFunc(config.Services, func(s configs.Service) bool { return s.Exposure == x.Name }) {
			out = append(out, x)
		}
	}
	return out
}

// checkClass looks for the class of an exposure of the mode ingress.
func checkClass(config *configs.Config, x *configs.Exposure, list lister) (hcl.Diagnostics, error) {
	live, err := list(providers.Scope{GVK: ingressClasses})
	if err != nil {
		return nil, err
	}
	live = append(live, inManifests(config, ingressClasses.Kind, "")...)
	var names []string
	byDefault := false
	for _, class := range live {
		names = append(names, class.GetName())
		byDefault = byDefault || class.GetAnnotations()[networking.AnnotationIsDefaultIngressClass] == "true"
	}
	slices.Sort(names)
	effect := "No controller will serve the Ingresses of this exposure. "
	if x.AwaitsAddress {
		effect += "An apply waits for their addresses until its time is over. "
	}
	effect += known("classes", names)
	switch {
	case x.Class == "" && !byDefault:
		return hcl.Diagnostics{object.Warning(x.Range, "The cluster has no default Ingress class", effect+" Set `class` of the exposure, or install an Ingress controller.")}, nil
	case x.Class != "" && !slices.Contains(names, x.Class):
		return hcl.Diagnostics{object.Warning(x.Range, fmt.Sprintf("The cluster has no Ingress class %q", x.Class),
			words.WithHint(words.DidYouMean(x.Class, names), effect+" Correct `class`, or install the Ingress controller."))}, nil
	}
	return nil, nil
}

// checkGateway looks for the Gateway of an exposure of the mode gateway.
func checkGateway(config *configs.Config, x *configs.Exposure, list lister) (hcl.Diagnostics, error) {
	namespace := cmp.Or(x.Gateway.Namespace, config.Cloud.Namespace)
	live, err := list(providers.Scope{GVK: gateways, Namespace: namespace})
	switch {
	case meta.IsNoMatchError(err) && brings(config, httpRoutes.GroupKind()):
		return nil, nil
	case meta.IsNoMatchError(err):
		return hcl.Diagnostics{object.Error(x.Range, "The cluster does not have the Gateway API",
			fmt.Sprintf("Exposure %q has the mode %q, which needs the kinds %s and %s of %s. Install an implementation of the Gateway API and its CustomResourceDefinitions first.",
				x.Name, x.Mode, gateways.Kind, httpRoutes.Kind, httpRoutes.GroupVersion()))}, nil
	case err != nil:
		return nil, err
	}
	live = append(live, inManifests(config, gateways.Kind, namespace)...)
	var names []string
	for _, gateway := range live {
		if gateway.GetNamespace() != namespace {
			continue
		}
		if names = append(names, gateway.GetName()); gateway.GetName() == x.Gateway.Name {
			return checkListeners(config, x, gateway, list)
		}
	}
	slices.Sort(names)
	return hcl.Diagnostics{object.Warning(x.Gateway.Range, fmt.Sprintf("Namespace %q has no Gateway %q", namespace, x.Gateway.Name),
		words.WithHint(words.DidYouMean(x.Gateway.Name, names), toNowhere+known("Gateways", names)))}, nil
}

// known lists the names that exist.
func known(noun string, names []string) string {
	if len(names) == 0 {
		return "There are no " + noun + "."
	}
	return words.Has("There are the "+noun, names)
}

// inManifests returns the objects of a kind in the manifests of the configuration, in a namespace or
// (empty) in all. Objects without a namespace are in that of the cloud.
func inManifests(config *configs.Config, kind, namespace string) []*unstructured.Unstructured {
	var out []*unstructured.Unstructured
	for _, m := range config.Manifests {
		for _, o := range m.Objects {
			u := (&unstructured.Unstructured{Object: o.Content}).DeepCopy()
			if u.GetNamespace() == "" && namespace != "" {
				u.SetNamespace(config.Cloud.Namespace)
			}
			if u.GetKind() == kind && (namespace == "" || u.GetNamespace() == namespace) {
				out = append(out, u)
			}
		}
	}
	return out
}

// brings reports whether the manifests of the configuration define a kind.
func brings(config *configs.Config, kind schema.GroupKind) bool {
	definition := strings.ToLower(kind.Kind) + "s." + kind.Group
	return slices.ContainsFunc(inManifests(config, kinds.CustomResourceDefinition.Kind, ""), func(u *unstructured.Unstructured) bool { return u.GetName() == definition })
}
