package network

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	gateway "sigs.k8s.io/gateway-api/apis/v1"

	"kolla.openstack.org/kolla/internal/base/words"
	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/providers/kinds"
	"kolla.openstack.org/kolla/providers/openstack/internal/object"
)

// toNowhere is the effect of a Gateway or a listener that is missing.
const toNowhere = "Its routes lead nowhere, and an apply waits for them until its time is over. "

// checkListeners looks for the listeners of an exposure in its Gateway. With TLS, one has the certificate.
func checkListeners(config *configs.Config, x *configs.Exposure, live *unstructured.Unstructured) (diags hcl.Diagnostics) {
	var found gateway.Gateway
	if runtime.DefaultUnstructuredConverter.FromUnstructured(live.Object, &found) != nil {
		return nil // the API server refuses such a Gateway
	}
	warn := func(summary, detail string) {
		diags = append(diags, object.Warning(x.Gateway.Range, summary, detail))
	}
	listener := func(section string) *gateway.Listener {
		var names []string
		for i := range found.Spec.Listeners {
			l := &found.Spec.Listeners[i]
			if names = append(names, string(l.Name)); string(l.Name) == section {
				return l
			}
		}
		if section != "" {
			warn(fmt.Sprintf("Gateway %q has no listener %q", x.Gateway.Name, section),
				words.WithHint(words.DidYouMean(section, names), toNowhere+known("listeners", names)))
		}
		return nil
	}
	switch l := listener(x.Gateway.Section); {
	case l == nil:
	case x.TLS == nil && l.Protocol == gateway.HTTPSProtocolType:
		warn(fmt.Sprintf("Listener %q of Gateway %q has TLS", l.Name, x.Gateway.Name),
			fmt.Sprintf("Exposure %q has no block `tls`, so its public URLs begin with http://, which the listener does not answer. Add the block, or take another listener.", x.Name))
	case x.TLS != nil && l.Protocol != gateway.HTTPSProtocolType:
		warn(fmt.Sprintf("Listener %q of Gateway %q has no TLS", l.Name, x.Gateway.Name),
			fmt.Sprintf("Exposure %q has a block `tls`, so its public URLs begin with https://, and the listener has the protocol %s. Take a listener with the protocol %s.", x.Name, l.Protocol, gateway.HTTPSProtocolType))
	case x.TLS != nil && !hasCertificate(config, x, live.GetNamespace(), l):
		warn(fmt.Sprintf("Listener %q of Gateway %q does not have the certificate", l.Name, x.Gateway.Name),
			fmt.Sprintf("The certificate of exposure %q is in Secret %s/%s. Name it in the listener:\n\n  tls:\n    certificateRefs:\n    - name: %s\n      namespace: %s", x.Name, config.Cloud.Namespace, x.TLS.Secret, x.TLS.Secret, config.Cloud.Namespace))
	}
	if plain := listener(x.Gateway.HTTPSection); plain != nil && plain.Protocol != gateway.HTTPProtocolType {
		warn(fmt.Sprintf("Listener %q of Gateway %q is not for plain HTTP", plain.Name, x.Gateway.Name),
			fmt.Sprintf("`http_section` of exposure %q redirects its clients to https://, and it has the protocol %s. Take a listener with the protocol %s, or remove the argument.", x.Name, plain.Protocol, gateway.HTTPProtocolType))
	}
	return diags
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
