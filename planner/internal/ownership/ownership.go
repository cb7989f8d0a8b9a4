// Package ownership decides who sets which field of a live object. Of the declared fields that
// other field managers own, kolla takes some, leaves some to their owners, such as replicas to an
// autoscaler (conflict.go: setByController), and asks the operator about the rest. Undeclared
// fields that a new object would not have are additions of others: the package finds them, who
// wrote them, and which of them no update can remove. It also says who changed a field (blame.go).
// It sends no dry runs. It only lists IngressClasses and ClusterRoles, for default classes and
// aggregated rules.
package ownership

// replicas is the path of the field that an autoscaler sets.
const replicas = "spec.replicas"

// History describes the writes to a live object since the last apply or check.
type History struct {
	// Clean: the object has the same fingerprint as at that time.
	Clean bool
	// Written: another client has certainly written to the object.
	Written bool
}
