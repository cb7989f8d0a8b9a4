package decode

import (
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// List is one page of the answer to a LIST, or all pages together.
type List struct {
	apiVersion string
	kind       string // "DeploymentList"
	Version    string // of the list; equal in all pages
	Items      []*unstructured.Unstructured
}

// Parse reads a page into an empty List. It calls announce once with the continue token,
// as soon as it has read it. The token comes before the items, so the next page can be
// requested meanwhile.
func (l *List) Parse(raw []byte, announce func(next string)) error {
	p := newParser(raw)
	defer p.free()
	var once sync.Once
	err := p.members(func(name string) error {
		switch name {
		case "items":
			return p.items(l)
		case "metadata":
			value, err := p.value(0)
			metadata, _ := value.(map[string]any)
			l.Version, _ = metadata["resourceVersion"].(string)
			next, _ := metadata["continue"].(string)
			once.Do(func() { announce(next) })
			return err
		}
		value, err := p.value(0)
		switch text, _ := value.(string); name {
		case "apiVersion":
			l.apiVersion = text
		case "kind":
			l.kind = text
		}
		return err
	})
	if p.peek(); err == nil && p.at < len(p.raw) {
		err = errSyntax
	}
	// The server omits kind and version in items, because the list has them.
	kind := strings.TrimSuffix(l.kind, "List")
	for _, u := range l.Items {
		if u.GetKind() == "" && u.GetAPIVersion() == "" {
			u.Object["kind"], u.Object["apiVersion"] = kind, l.apiVersion
		}
	}
	return err
}

// items reads the objects of a page; null is an empty list. If a field occurs twice, the
// last one counts.
func (p *parser) items(l *List) error {
	l.Items = nil
	if p.peek() == 'n' {
		return p.literal("null")
	}
	return p.elements(func() error {
		if p.peek() != '{' {
			return errSyntax
		}
		content, err := p.object(0)
		l.Items = append(l.Items, &unstructured.Unstructured{Object: content})
		return err
	})
}
