package nodes

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/netip"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/component-base/version"
)

// Address is the address of the simulated kubelets for the API server. Every node has it as
// its internal DNS name, and a separate IP address on which nothing listens.
const Address = "localhost"

// nodeNet is set aside for benchmarks (RFC 2544), so no real machine has an
// address in it.
var nodeNet = netip.MustParsePrefix("198.18.0.0/15")

// The label of simulated nodes, by which they are told from real ones.
const (
	simulatedLabel = "type"
	simulatedValue = "kwok"
)

// Ensure creates missing nodes, and sets the given labels on existing nodes. It does not
// change other labels and nodes.
func Ensure(ctx context.Context, client kubernetes.Interface, specs []Spec, kubeletPort int) error {
	list, err := client.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	if err != nil {
		return fmt.Errorf("list nodes: %w", err)
	}
	existing := map[string]corev1.Node{}
	for _, node := range list.Items {
		existing[node.Name] = node
	}
	addresses := newAddresses(list.Items)
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(16)
	for _, spec := range specs {
		if node, ok := existing[spec.Name]; ok {
			group.Go(func() error { return label(ctx, client, node, spec) })
			continue
		}
		node, err := newNode(spec, addresses.next(), kubeletPort)
		if err != nil {
			return err
		}
		group.Go(func() error {
			if _, err := client.CoreV1().Nodes().Create(ctx, node, metav1.CreateOptions{}); err != nil {
				return fmt.Errorf("create node %s: %w", node.Name, err)
			}
			return nil
		})
	}
	return group.Wait()
}

func label(ctx context.Context, client kubernetes.Interface, node corev1.Node, spec Spec) error {
	merged := maps.Clone(node.Labels)
	maps.Copy(merged, spec.Labels)
	if maps.Equal(merged, node.Labels) {
		return nil
	}
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"labels": spec.Labels}})
	if err != nil {
		return fmt.Errorf("label node %s: %w", node.Name, err)
	}
	_, err = client.CoreV1().Nodes().Patch(ctx, node.Name, types.MergePatchType, patch, metav1.PatchOptions{})
	if err != nil {
		return fmt.Errorf("label node %s: %w", node.Name, err)
	}
	return nil
}

// newNode returns a node as its kubelet would register it.
func newNode(spec Spec, address netip.Addr, kubeletPort int) (*corev1.Node, error) {
	if !address.IsValid() {
		return nil, fmt.Errorf("create node %s: all addresses of %s are taken", spec.Name, nodeNet)
	}
	labels := map[string]string{
		corev1.LabelHostname:   spec.Name,
		corev1.LabelOSStable:   "linux",
		corev1.LabelArchStable: "amd64",
		simulatedLabel:         simulatedValue,
	}
	maps.Copy(labels, spec.Labels)
	capacity := corev1.ResourceList{
		corev1.ResourceCPU:              resource.MustParse("32"),
		corev1.ResourceMemory:           resource.MustParse("256Gi"),
		corev1.ResourceEphemeralStorage: resource.MustParse("1Ti"),
		// As many as fit into the /24 that a node has for its pods.
		corev1.ResourcePods: resource.MustParse("250"),
	}
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: spec.Name, Labels: labels},
		Status: corev1.NodeStatus{
			Capacity:    capacity,
			Allocatable: capacity,
			Addresses: []corev1.NodeAddress{
				{Type: corev1.NodeHostName, Address: spec.Name},
				{Type: corev1.NodeInternalIP, Address: address.String()},
				{Type: corev1.NodeInternalDNS, Address: Address},
			},
			DaemonEndpoints: corev1.NodeDaemonEndpoints{
				KubeletEndpoint: corev1.DaemonEndpoint{Port: int32(kubeletPort)},
			},
			NodeInfo: corev1.NodeSystemInfo{
				Architecture:            "amd64",
				OperatingSystem:         "linux",
				OSImage:                 "simulated",
				KernelVersion:           "simulated",
				ContainerRuntimeVersion: "simulated://0",
				KubeletVersion:          version.Get().GitVersion,
			},
		},
	}, nil
}

// addresses hands out the addresses of nodeNet that no node has.
type addresses struct {
	taken map[netip.Addr]bool
	last  netip.Addr
}

func newAddresses(nodes []corev1.Node) *addresses {
	a := &addresses{taken: map[netip.Addr]bool{}, last: nodeNet.Addr()}
	for _, node := range nodes {
		for _, address := range node.Status.Addresses {
			if ip, err := netip.ParseAddr(address.Address); err == nil {
				a.taken[ip] = true
			}
		}
	}
	return a
}

// next returns an invalid address when there is none left.
func (a *addresses) next() netip.Addr {
	for {
		a.last = a.last.Next()
		if !nodeNet.Contains(a.last) {
			return netip.Addr{}
		}
		if !a.taken[a.last] {
			return a.last
		}
	}
}
