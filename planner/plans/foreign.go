package plans

import (
	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/providers"
)

// ForeignPolicy says what happens to fields that others add to kolla's objects although
// only kolla should set them.
type ForeignPolicy string

// The policies. The zero value stands for RevertForeign.
const (
	RevertForeign ForeignPolicy = "revert" // an apply removes them
	ReportForeign ForeignPolicy = "report" // the plan shows them, and they stay
	IgnoreForeign ForeignPolicy = "ignore" // the planner does not look for them
)

// Foreign has the fields that others set in one of kolla's objects and that stay there.
type Foreign struct {
	Address addrs.Object  `json:"address"`
	Ref     providers.Ref `json:"ref"`
	// Fields have the live value in Before, and the last writer in Manager.
	Fields []Change `json:"fields"`
	// Reported: only kolla should set these fields. They count as drift. They stay because
	// of the policy, because the server does not accept the object without them, or because
	// no update can remove them: then they are Stuck.
	Reported bool `json:"reported,omitempty"`
	Stuck    bool `json:"stuck,omitempty"`
}
