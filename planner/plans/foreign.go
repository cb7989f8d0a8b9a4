package plans

import (
	"kolla.openstack.org/kolla/lang"
	"kolla.openstack.org/kolla/providers"
)

// ForeignPolicy says what becomes of fields that others add to kolla's objects, and that
// nobody but kolla should set.
type ForeignPolicy string

// The policies. The zero value stands for RevertForeign.
const (
	RevertForeign ForeignPolicy = "revert" // an apply removes them
	ReportForeign ForeignPolicy = "report" // they are shown, and stay
	IgnoreForeign ForeignPolicy = "ignore" // nobody looks for them
)

// Foreign are fields of one of kolla's objects that others set and that stay as they
// are.
type Foreign struct {
	Address lang.Address  `json:"address"`
	Ref     providers.Ref `json:"ref"`
	// Fields have the live value in Before, and who wrote it last.
	Fields []Change `json:"fields"`
	// Reported: nobody but kolla should set them. They count as drift, and stay by the
	// policy, or because the server does not accept the object without; or they are Stuck:
	// no update takes them out.
	Reported bool `json:"reported,omitempty"`
	Stuck    bool `json:"stuck,omitempty"`
}
