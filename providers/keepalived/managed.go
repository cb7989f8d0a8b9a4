package keepalived

import (
	"bytes"
	"cmp"
	_ "embed"
	"net/netip"
	"text/template"

	"kolla.openstack.org/kolla/lang/configs"
)

//go:embed managed.conf.tmpl
var managedSource string

var managedPage = template.Must(template.New("managed.conf").Parse(managedSource))

// Node is a node of the cluster that may get the VIP.
type Node struct {
	Name    string     // also the ID of its configuration (keepalived --config-id)
	Address netip.Addr // by which the other nodes reach it
}

// RenderManaged returns the keepalived.conf of all nodes of an exposure of the mode managed. monitor is a
// socket at which HAProxy answers, and ready a file that exists while the node could have the VIP.
// The addresses of the nodes have the family of the VIP.
func RenderManaged(cloud string, exposure configs.Exposure, nodes []Node, monitor, ready string) []byte {
	vip := netip.MustParseAddr(exposure.VIP) // the caller checked it
	var out bytes.Buffer
	err := managedPage.Execute(&out, struct {
		Signature, Cloud, Exposure string
		VIP                        netip.Addr
		Bits                       int
		Nodes                      []Node
		Peers                      bool // there are several nodes
		Interface, VRRPInterface   string
		RouterID                   int
		Monitor, Ready             string
	}{
		Signature, cloud, exposure.Name, vip, vip.BitLen(), nodes, len(nodes) > 1,
		exposure.Keepalived.Interface, cmp.Or(exposure.Keepalived.VRRPInterface, exposure.Keepalived.Interface), exposure.Keepalived.RouterID, monitor, ready,
	})
	if err != nil {
		panic(err) // the template fits the data, and a buffer accepts all of it
	}
	return out.Bytes()
}
