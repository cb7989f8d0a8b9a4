// Package object makes the objects of a cloud and of its services: their names, addresses,
// labels and annotations, and their manifests from client-go's apply configurations.
package object

import (
	"fmt"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	corev1 "k8s.io/client-go/applyconfigurations/core/v1"

	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/providers"
)

// StartKolla is the start mode of images that need their own start script. All other pods start
// their command directly.
const StartKolla = "kolla"

// Cloud makes objects that belong to no service.
type Cloud struct {
	Decl *configs.Cloud
	// NamesOnly is set if manifests only need to identify their objects.
	NamesOnly bool
}

// Block returns the address of the cloud block.
func (c Cloud) Block() string { return "cloud." + c.Decl.Name }

// Address returns the address of an object of the cloud.
func (c Cloud) Address(kind, name string) addrs.Object {
	return addrs.Object{Block: c.Block(), Kind: kind, Name: name}
}

// Namespace returns the address of the cloud's namespace.
func (c Cloud) Namespace() addrs.Object { return c.Address("Namespace", c.Decl.Namespace) }

// Node returns the address of a node with a role.
func (c Cloud) Node(name string) addrs.Object { return c.Address("Node", name) }

// Labels returns the labels of all objects of the cloud.
func (c Cloud) Labels() map[string]string {
	return map[string]string{
		"app.kubernetes.io/managed-by": "kolla",
		"app.kubernetes.io/part-of":    c.Decl.Name,
		providers.LabelCloud:           c.Decl.Name,
	}
}

// Manifest converts an apply configuration to a manifest. If NamesOnly is set, the manifest
// only identifies the object.
func (c Cloud) Manifest(from Configuration) *unstructured.Unstructured {
	if c.NamesOnly {
		return nameOnly(from)
	}
	return Manifest(from)
}

// Secret returns the manifest of a Secret in the cloud's namespace, without data.
func (c Cloud) Secret(address addrs.Object) *unstructured.Unstructured {
	u := c.Manifest(Opaque(address.Name))
	u.SetNamespace(c.Decl.Namespace)
	u.SetLabels(c.Labels())
	u.SetAnnotations(AddressAnnotation(address))
	return u
}

// OfKolla reports whether an image is named as Kolla names it: without a registry.
func OfKolla(image string) bool { return !strings.Contains(image, "/") }

// Image returns the full reference of a Kolla image, with its digest if that is locked.
func (c Cloud) Image(name string) string {
	reference := name
	if OfKolla(name) {
		reference = c.Decl.Registry + "/" + c.Decl.Prefix + name + ":" + c.Decl.ImageTag()
	}
	if digest := c.Decl.Lock[reference]; digest != "" {
		reference += "@" + digest
	}
	return reference
}

// AddressAnnotation returns the annotation with the address of an object.
func AddressAnnotation(address addrs.Object) map[string]string {
	return map[string]string{providers.AnnotationAddress: address.String()}
}

// Opaque returns a Secret of the type without rules.
func Opaque(name string) *corev1.SecretApplyConfiguration {
	return corev1.Secret(name, "").WithType("Opaque")
}

// Place is a declaration.
type Place struct {
	Block string
	At    hcl.Range
}

func (p Place) String() string {
	if at := Source(p.At); at != "" {
		return fmt.Sprintf("%s (%s)", p.Block, at)
	}
	return p.Block
}

// Source formats the place of a declaration: "cloud.hcl:41".
func Source(r hcl.Range) string {
	if r.Filename == "" {
		return ""
	}
	return fmt.Sprintf("%s:%d", r.Filename, r.Start.Line)
}

// Error returns an error at a place.
func Error(subject hcl.Range, summary, detail string) *hcl.Diagnostic {
	return &hcl.Diagnostic{Severity: hcl.DiagError, Summary: summary, Detail: detail, Subject: subject.Ptr()}
}

// Warning returns a warning at a place.
func Warning(subject hcl.Range, summary, detail string) *hcl.Diagnostic {
	return &hcl.Diagnostic{Severity: hcl.DiagWarning, Summary: summary, Detail: detail, Subject: subject.Ptr()}
}
