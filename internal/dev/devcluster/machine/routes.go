package machine

import (
	"context"
	"fmt"
	"log"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"time"

	"github.com/vishvananda/netlink"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"kolla.openstack.org/kolla/internal/dev/devcluster/fabric"
)

// followNodes configures the pod network after the control plane has assigned the machine its
// part, and maintains routes to the parts of other machines.
func followNodes(ctx context.Context, settings Settings) error {
	// The proxy may read all nodes; a kubelet may read its own only.
	config, err := clientcmd.BuildConfigFromFlags("", etcFile(ProxyKubeconfig))
	if err != nil {
		return fmt.Errorf("follow nodes: %w", err)
	}
	config.UserAgent = "devcluster-machine"
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("follow nodes: %w", err)
	}
	const period = time.Second
	for last := ""; ; {
		message := ""
		if err := syncNodes(ctx, client, settings); err != nil {
			message = err.Error()
		}
		if message != last && message != "" {
			log.Print("follow nodes: ", message)
		}
		last = message
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(period):
		}
	}
}

func syncNodes(ctx context.Context, client kubernetes.Interface, settings Settings) error {
	list, err := client.CoreV1().Nodes().List(ctx, metav1.ListOptions{ResourceVersion: "0"})
	if err != nil {
		return err
	}
	for _, node := range list.Items {
		if node.Spec.PodCIDR == "" {
			continue
		}
		if node.Name == settings.Name {
			if err := configureCNI(node.Spec.PodCIDR); err != nil {
				return err
			}
			continue
		}
		if err := routeTo(&node); err != nil {
			return fmt.Errorf("route to pods of %s: %w", node.Name, err)
		}
	}
	return nil
}

// routeTo sends packets for the pods of another machine to it. Simulated nodes have addresses
// elsewhere, and pods that nobody can reach.
func routeTo(node *corev1.Node) error {
	for _, address := range node.Status.Addresses {
		via, err := netip.ParseAddr(address.Address)
		if address.Type != corev1.NodeInternalIP || err != nil || !fabric.Network.Contains(via) {
			continue
		}
		_, pods, err := net.ParseCIDR(node.Spec.PodCIDR)
		if err != nil {
			return err
		}
		return netlink.RouteReplace(&netlink.Route{Dst: pods, Gw: via.AsSlice()})
	}
	return nil
}

// configureCNI gives pods addresses from the machine's part of the pod network.
func configureCNI(podCIDR string) error {
	config := fmt.Sprintf(`{
  "cniVersion": "1.0.0",
  "name": "pods",
  "plugins": [
    {
      "type": "bridge",
      "bridge": "cni0",
      "isGateway": true,
      "hairpinMode": true,
      "ipam": {
        "type": "host-local",
        "dataDir": "/run/cni-addresses",
        "ranges": [[{"subnet": %q}]],
        "routes": [{"dst": "0.0.0.0/0"}]
      }
    },
    {"type": "portmap", "capabilities": {"portMappings": true}}
  ]
}
`, podCIDR)
	path := filepath.Join(cniConfigDir, "10-pods.conflist")
	if now, err := os.ReadFile(path); err == nil && string(now) == config {
		return nil
	}
	// Written beside and renamed: containerd reads the folder whenever it changes.
	if err := writeFile(path+".new", config); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}
