package drift

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"kolla.openstack.org/kolla/internal/base/foreign"
)

// Certificate is a certificate in a Secret of the cloud.
type Certificate struct {
	Namespace string    `json:"namespace"`
	Secret    string    `json:"secret"`
	Ends      time.Time `json:"ends_at"` // in UTC
	// Soon: it has ended, or is to be replaced now.
	Soon bool `json:"ends_soon"`
	// Made: kolla makes it, and an apply renews it.
	Made bool `json:"renewed_by_kolla"`
	// Issued: cert-manager renews it.
	Issued bool `json:"renewed_by_cert_manager"`
}

// SortCertificates sorts certificates by their ends.
func SortCertificates(list []Certificate) {
	slices.SortFunc(list, func(a, b Certificate) int {
		return cmp.Or(a.Ends.Compare(b.Ends), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Secret, b.Secret))
	})
}

// Warning says when the certificate ends, and what to do. now is the time of the look.
func (c Certificate) Warning(now time.Time) (summary, detail string) {
	name := foreign.Name(c.Namespace + "/" + c.Secret)
	summary = fmt.Sprintf("The certificate in Secret %s ends soon", name)
	detail = fmt.Sprintf("It ends on %s. From then on, clients refuse connections.", c.Ends.UTC().Format("2006-01-02 15:04 UTC"))
	if now.After(c.Ends) {
		summary = fmt.Sprintf("The certificate in Secret %s has ended", name)
		detail = fmt.Sprintf("It ended on %s. Clients refuse connections.", c.Ends.UTC().Format("2006-01-02 15:04 UTC"))
	}
	switch {
	case c.Made:
		return summary, detail + " kolla apply renews it."
	case c.Issued:
		return summary, detail + fmt.Sprintf(" cert-manager has not renewed it. The reason: kubectl -n %s describe certificate %s.", foreign.Name(c.Namespace), foreign.Name(c.Secret))
	}
	return summary, detail + " Replace it in the place that the configuration takes it from."
}
