package command

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kolla.openstack.org/kolla/providers/kinds"
)

// nodesTimeout limits the time to list the nodes.
const nodesTimeout = 20 * time.Second

// Nodes lists the Nodes of the cluster, after Dial.
func (w *Workspace) Nodes(ctx context.Context) ([]*unstructured.Unstructured, error) {
	ctx, cancel := context.WithTimeout(ctx, nodesTimeout)
	defer cancel()
	return w.Client.List(ctx, kinds.Node.WithVersion("v1"), "")
}
