package lang

import (
	"errors"
	"fmt"

	"github.com/zclconf/go-cty/cty"

	"kolla.openstack.org/kolla/lang/internal/diag"
	"kolla.openstack.org/kolla/lang/internal/values"
)

// fit converts a value to a variable's type. What does not fit is reported part by part
// with summary, and after the words in before; what has no effect is warned of.
func (l *loader) fit(v *variable, value cty.Value, p values.Place, summary, before string) (converted cty.Value, ok bool) {
	converted, err := v.convert(value)
	if v.Sensitive || value.ContainsMarked() {
		if err != nil {
			l.report.Error(p.At(), summary, "%s%s must be of type %s. What is wrong is not shown, because the value is sensitive.", before, p.Name, v.Type)
		}
		return converted, err == nil
	}
	found := values.TypeErrors(value, v.constraint, p)
	wrong := 0
	for _, m := range found {
		if m.Surplus {
			l.report.Warn(m.At, "Unknown attribute", "%s%s.", before, m.Why)
			continue
		}
		wrong++
		l.report.Error(m.At, summary, "%s%s.%s", before, m.Why, v.typeAt())
	}
	if err != nil && wrong == 0 {
		name := p.Name
		var inside cty.PathError
		if errors.As(err, &inside) {
			name += values.PathText(inside.Path)
		}
		l.report.Error(p.At(), summary, "%s%s does not fit: %s.%s", before, name, err, v.typeAt())
	}
	return converted, err == nil
}

// typeAt says where a type is that is too long to be repeated.
func (v *variable) typeAt() string {
	attr := v.block.Attributes["type"]
	if attr == nil || v.constraint.IsPrimitiveType() {
		return ""
	}
	return fmt.Sprintf(" The type of the %s is at %s.", v.block.Type.Label, diag.Position(attr.NameRange))
}
