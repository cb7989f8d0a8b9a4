package html

import (
	_ "embed"
	"html/template"
	"io"
	"time"

	"kolla.openstack.org/kolla/internal/present/drift"
)

//go:embed drift.html
var driftSource string

// driftModel is the data of the template of drift.
type driftModel struct {
	*drift.Look
	Zone  *time.Location
	Style template.CSS
}

// Brand names the kind of the page.
func (driftModel) Brand() string { return "kolla drift" }

// Moment formats a time in the zone of the page.
func (m driftModel) Moment(t time.Time) string { return drift.Moment(t, m.Zone) }

// Drift writes what others changed as a page without a script.
func Drift(w io.Writer, look *drift.Look, zone *time.Location) error {
	return write(w, "drift", driftModel{look, zone, template.CSS(style)})
}
