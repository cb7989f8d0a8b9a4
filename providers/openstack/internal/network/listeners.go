package network

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	core "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	gateway "sigs.k8s.io/gateway-api/apis/v1"

	"kolla.openstack.org/kolla/internal/base/words"
	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/kinds"
	"kolla.openstack.org/kolla/providers/openstack/internal/object"
)

// toNowhere is the effect of a Gateway or a listener that is missing, or that does not take routes.
const toNowhere = "Its routes lead nowhere, and an apply waits for them until its time is over. "

// listeners are the listeners of a Gateway, for an exposure that uses it.
type listeners struct {
	config    *configs.Config
	x         *configs.Exposure
	hosts     []string // of its routes
	port      int      // of clients
	gateway   gateway.Gateway
	namespace string // of the Gateway
	list      lister
	unread    error // of list
}

// fault is a reason why a listener does not serve an exposure.
type fault struct {
	predicate string // of a sentence about the listener
	detail    string // effect, reason and advice
}

// checkListeners looks for the listeners of an exposure in its Gateway, and checks that they take its routes. With
// TLS, one has the certificate.
func checkListeners(config *configs.Config, x *configs.Exposure, live *unstructured.Unstructured, list lister) (diags hcl.Diagnostics, unread error) {
	ls := listeners{config: config, x: x, namespace: live.GetNamespace(), list: list}
	ls.hosts, ls.port = hostNames(config, x)
	if runtime.DefaultUnstructuredConverter.FromUnstructured(live.Object, &ls.gateway) != nil {
		return nil, nil // the API server refuses such a Gateway
	}
	warn := func(summary, detail string) {
		diags = append(diags, object.Warning(x.Gateway.Range, summary, detail))
	}
	report := func(section string, faults func(*gateway.Listener, []string) []fault) {
		l := ls.named(section)
		if l == nil {
			warn(fmt.Sprintf("Gateway %q has no listener %q", x.Gateway.Name, section),
				words.WithHint(words.DidYouMean(section, ls.names()), toNowhere+known("listeners", ls.names())))
			return
		}
		for _, f := range faults(l, ls.hosts) {
			warn(fmt.Sprintf("Listener %q of Gateway %q %s", l.Name, x.Gateway.Name, f.predicate), f.detail)
		}
	}
	if x.Gateway.Section != "" {
		report(x.Gateway.Section, ls.faults)
	} else if hosts, reasons := ls.untaken(); len(hosts) > 0 {
		warn(fmt.Sprintf("Gateway %q has no listener for exposure %q", x.Gateway.Name, x.Name),
			fmt.Sprintf("%sThe routes for %s need a listener with the protocol %s that admits HTTPRoutes from namespace %q, at port %d. %s", toNowhere,
				words.Few(hosts, 3), gateway.HTTPProtocolType, config.Cloud.Namespace, ls.port, strings.Join(reasons, " ")))
	}
	if x.Gateway.HTTPSection != "" {
		report(x.Gateway.HTTPSection, ls.redirectFaults)
	}
	return diags, ls.unread
}

func (ls *listeners) names() []string {
	var out []string
	for _, l := range ls.gateway.Spec.Listeners {
		out = append(out, string(l.Name))
	}
	return out
}

// named returns the listener with a name, or nil.
func (ls *listeners) named(name string) *gateway.Listener {
	i := slices.Index(ls.names(), name)
	if i < 0 {
		return nil
	}
	return &ls.gateway.Spec.Listeners[i]
}

// untaken returns the host names that no listener of the Gateway serves, and the first reason of each listener.
func (ls *listeners) untaken() (hosts, reasons []string) {
	for _, host := range ls.hosts {
		var against []string
		for i := range ls.gateway.Spec.Listeners {
			l := &ls.gateway.Spec.Listeners[i]
			if faults := ls.faults(l, []string{host}); len(faults) > 0 {
				against = append(against, fmt.Sprintf("Listener %q %s.", l.Name, faults[0].predicate))
			}
		}
		if len(against) == len(ls.gateway.Spec.Listeners) {
			hosts, reasons = append(hosts, host), against
		}
	}
	return hosts, reasons
}

// faults returns the reasons why a listener does not serve the routes that lead host names to services.
func (ls *listeners) faults(l *gateway.Listener, hosts []string) []fault {
	switch {
	case ls.x.TLS == nil && l.Protocol == gateway.HTTPSProtocolType:
		return []fault{{"has TLS", fmt.Sprintf("Exposure %q has no block `tls`, so its public URLs begin with http://, which the listener does not answer. Add the block, or take another listener.", ls.x.Name)}}
	case ls.x.TLS == nil && l.Protocol != gateway.HTTPProtocolType:
		return []fault{{"is not for HTTP", fmt.Sprintf("%sThe listener has the protocol %s. Take a listener with the protocol %s.", toNowhere, l.Protocol, gateway.HTTPProtocolType)}}
	case ls.x.TLS != nil && l.Protocol != gateway.HTTPSProtocolType:
		return []fault{{"has no TLS", fmt.Sprintf("Exposure %q has a block `tls`, so its public URLs begin with https://, and the listener has the protocol %s. Take a listener with the protocol %s.", ls.x.Name, l.Protocol, gateway.HTTPSProtocolType)}}
	}
	var out []fault
	if ls.x.TLS != nil && !hasCertificate(ls.config, ls.x, ls.namespace, l) {
		out = append(out, fault{"does not have the certificate", fmt.Sprintf("The certificate of exposure %q is in Secret %s/%s. Name it in the listener:\n\n  tls:\n    certificateRefs:\n    - name: %s\n      namespace: %s",
			ls.x.Name, ls.config.Cloud.Namespace, ls.x.TLS.Secret, ls.x.TLS.Secret, ls.config.Cloud.Namespace)})
	}
	out = append(out, ls.refusals(l, hosts)...)
	if int(l.Port) != ls.port && !ls.translatesPorts() {
		out = append(out, fault{fmt.Sprintf("has port %d", l.Port), fmt.Sprintf("Clients of exposure %q connect to port %d, where the listener does not answer. Set `port = %d` in the exposure, or take a listener with port %d.", ls.x.Name, ls.port, l.Port, ls.port)})
	}
	return out
}

// redirectFaults returns the reasons why a listener does not serve the routes that redirect from plain HTTP.
func (ls *listeners) redirectFaults(l *gateway.Listener, hosts []string) []fault {
	if l.Protocol != gateway.HTTPProtocolType {
		return []fault{{"is not for plain HTTP", fmt.Sprintf("`http_section` of exposure %q redirects its clients to https://, and it has the protocol %s. Take a listener with the protocol %s, or remove the argument.", ls.x.Name, l.Protocol, gateway.HTTPProtocolType)}}
	}
	return ls.refusals(l, hosts)
}

// refusals returns the reasons why a listener refuses routes for host names.
func (ls *listeners) refusals(l *gateway.Listener, hosts []string) []fault {
	var out []fault
	if reason := ls.shutsOut(l); reason != "" {
		out = append(out, fault{fmt.Sprintf("admits no routes from namespace %q", ls.config.Cloud.Namespace), fmt.Sprintf("%s%s Admit the namespace in the listener:\n\n  allowedRoutes:\n    namespaces:\n      from: Selector\n      selector:\n        matchLabels:\n          %s: %s",
			toNowhere, reason, core.LabelMetadataName, ls.config.Cloud.Namespace)})
	}
	if l.AllowedRoutes != nil && len(l.AllowedRoutes.Kinds) > 0 {
		var admitted []string
		for _, k := range l.AllowedRoutes.Kinds {
			admitted = append(admitted, string(k.Kind))
		}
		if !slices.Contains(admitted, httpRoutes.Kind) {
			out = append(out, fault{"admits no HTTPRoutes", fmt.Sprintf("%sIts allowedRoutes.kinds has only %s. Add the kind %s, or remove the field.", toNowhere, words.All(admitted), httpRoutes.Kind)})
		}
	}
	if name := string(deref(l.Hostname)); name != "" {
		others := slices.DeleteFunc(slices.Clone(hosts), func(host string) bool { return admits(name, host) })
		if len(others) > 0 {
			out = append(out, fault{"is for other host names", fmt.Sprintf("%sThe listener is for %s, and exposure %q has %s. Set its hostname to *.%s, or take another listener.", toNowhere, name, ls.x.Name, words.Few(others, 3), ls.x.Domain)})
		}
	}
	return out
}

// admits reports whether a host name of a listener, or its wildcard, admits a host name of a route.
func admits(listener, host string) bool {
	suffix, wildcard := strings.CutPrefix(listener, "*")
	return host == listener || wildcard && strings.HasSuffix(host, suffix)
}

// shutsOut returns the reason why a listener refuses all routes of the cloud's namespace, or an empty text.
func (ls *listeners) shutsOut(l *gateway.Listener) string {
	allowed := gateway.RouteNamespaces{}
	if l.AllowedRoutes != nil && l.AllowedRoutes.Namespaces != nil {
		allowed = *l.AllowedRoutes.Namespaces
	}
	switch from := cmp.Or(deref(allowed.From), gateway.NamespacesFromSame); from {
	case gateway.NamespacesFromAll:
		return ""
	case gateway.NamespacesFromSelector:
		selector, err := metav1.LabelSelectorAsSelector(allowed.Selector)
		if err != nil || ls.selected(selector) {
			return ""
		}
		return fmt.Sprintf("Its allowedRoutes admit namespaces with the labels %s.", selector)
	case gateway.NamespacesFromSame:
		if ls.namespace == ls.config.Cloud.Namespace {
			return ""
		}
		return fmt.Sprintf("Its allowedRoutes admit only namespace %q, in which the Gateway is.", ls.namespace)
	default:
		return fmt.Sprintf("Its allowedRoutes admit namespaces %q.", from)
	}
}

// selected reports whether the cloud's namespace has the labels of a selector, now or after an apply. It counts as
// selected if its labels cannot be read.
func (ls *listeners) selected(by labels.Selector) bool {
	has := labels.Set{core.LabelMetadataName: ls.config.Cloud.Namespace}
	maps.Copy(has, object.Cloud{Decl: &ls.config.Cloud}.Labels())
	of := inManifests(ls.config, kinds.Namespace.Kind, "")
	if !by.Matches(has) {
		live, err := ls.list(providers.Scope{GVK: namespaces})
		if err != nil {
			ls.unread = errors.Join(ls.unread, err)
			return true
		}
		of = append(of, live...)
	}
	for _, u := range of {
		if u.GetName() == ls.config.Cloud.Namespace {
			maps.Copy(has, u.GetLabels())
		}
	}
	return by.Matches(has)
}

// ofTraefik is the controller whose listeners have the ports of its pods. Its Service has others.
const ofTraefik = "traefik.io/gateway-controller"

// translatesPorts reports whether clients of the Gateway may use other ports than those of its listeners. They may
// if its class cannot be read.
func (ls *listeners) translatesPorts() bool {
	live, err := ls.list(providers.Scope{GVK: gatewayClasses})
	if err != nil {
		ls.unread = errors.Join(ls.unread, err)
		return true
	}
	return slices.ContainsFunc(append(live, inManifests(ls.config, gatewayClasses.Kind, "")...), func(u *unstructured.Unstructured) bool {
		controller, _, _ := unstructured.NestedString(u.Object, "spec", "controllerName")
		return u.GetName() == string(ls.gateway.Spec.GatewayClassName) && controller == ofTraefik
	})
}

// hostNames returns the host names of the ports at an exposure, and the port that clients use for all of them.
func hostNames(config *configs.Config, x *configs.Exposure) (hosts []string, port int) {
	for i := range config.Services {
		s := &config.Services[i]
		for _, p := range s.Ports {
			if s.Exposure == x.Name && p.Exposed {
				entry := x.Entry(s.Name, s.Ports, p)
				hosts, port = append(hosts, entry.Host), entry.Port
			}
		}
	}
	slices.Sort(hosts)
	return slices.Compact(hosts), port
}

// hasCertificate reports whether a listener of a Gateway in a namespace names the Secret with the
// certificate of an exposure.
func hasCertificate(config *configs.Config, x *configs.Exposure, namespace string, l *gateway.Listener) bool {
	return l.TLS != nil && slices.ContainsFunc(l.TLS.CertificateRefs, func(ref gateway.SecretObjectReference) bool {
		of, kind := gateway.Namespace(namespace), gateway.Kind(kinds.Secret.Kind)
		return cmp.Or(deref(ref.Kind), kind) == kind && string(ref.Name) == x.TLS.Secret && string(cmp.Or(deref(ref.Namespace), of)) == config.Cloud.Namespace
	})
}

// deref returns the text that a pointer leads to; empty: there is none.
func deref[T ~string](p *T) T {
	if p == nil {
		return ""
	}
	return *p
}
