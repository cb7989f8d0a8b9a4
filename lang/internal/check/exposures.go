package check

import (
	"net/netip"

	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/lang/internal/diag"
)

// ManagedExposures reports exposures of the mode managed that would take something from another
// exposure: its VIP, or its number in VRRP.
func ManagedExposures(whole *Whole) {
	all := whole.Config.Exposures
	for i := range all {
		for j := range all[:i] {
			checkVIPs(whole, &all[j], &all[i])
			checkRouterIDs(whole, &all[j], &all[i])
		}
	}
}

// checkVIPs reports a VIP of two exposures, if keepalived holds it for one of them.
func checkVIPs(whole *Whole, a, b *configs.Exposure) {
	first, err1 := netip.ParseAddr(a.VIP)
	second, err2 := netip.ParseAddr(b.VIP)
	if a.Mode != configs.ModeManaged && b.Mode != configs.ModeManaged || err1 != nil || err2 != nil || first.Unmap() != second.Unmap() {
		return
	}
	whole.Report.Error(b.Range, "VIP taken twice", "Exposure %q (%s) has the same vip, %s. An address that keepalived gives to a node cannot be anywhere else. Take another vip for one of them, or one exposure for the services of both.",
		a.Name, diag.Position(a.Range), first)
}

// checkRouterIDs reports a number in VRRP of two exposures: the nodes could not tell their groups apart.
func checkRouterIDs(whole *Whole, a, b *configs.Exposure) {
	if a.Mode != configs.ModeManaged || b.Mode != configs.ModeManaged || a.Keepalived.RouterID == 0 || a.Keepalived.RouterID != b.Keepalived.RouterID {
		return
	}
	whole.Report.Error(b.Keepalived.Range, "Router ID taken twice", "Exposure %q (%s) has the virtual_router_id %d too. Its nodes would take the messages of one exposure for those of the other. Choose another number from 1 to 255: virtual_router_id = %d.",
		a.Name, diag.Position(a.Keepalived.Range), a.Keepalived.RouterID, nextRouterID(whole))
}

// nextRouterID returns a number that no exposure has.
func nextRouterID(whole *Whole) int {
	next := 1
	for _, x := range whole.Config.Exposures {
		next = max(next, x.Keepalived.RouterID+1)
	}
	return min(next, 255)
}
