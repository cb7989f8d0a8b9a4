package providers

import "strings"

// DeniedByAdmission reports whether a message of the API server says that an admission webhook, or
// a policy in CEL, denied a request. The status does not tell: a webhook chooses its code, and a
// policy its reason.
func DeniedByAdmission(message string) bool {
	return strings.Contains(message, "denied the request") || strings.Contains(message, "denied request: ")
}
