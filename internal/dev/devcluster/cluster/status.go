package cluster

import (
	"context"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/component-base/version"
)

// Status is the state of a cluster for its users.
type Status struct {
	Dir        string `json:"dir"`
	Running    bool   `json:"running"`
	Ready      bool   `json:"ready"`
	Kubeconfig string `json:"kubeconfig"`
	URL        string `json:"url,omitempty"`
	PID        int    `json:"pid,omitempty"`
	// Started is empty for a cluster that does not run.
	Started    *time.Time        `json:"started,omitempty"`
	Components []ComponentStatus `json:"components,omitempty"`
	Nodes      []NodeStatus      `json:"nodes,omitempty"`
	// Problem is the error of listing the nodes.
	Problem  string            `json:"problem,omitempty"`
	Versions map[string]string `json:"versions"`
}

// ComponentStatus is about one component.
type ComponentStatus struct {
	Name     string `json:"name"`
	PID      int    `json:"pid"`
	Alive    bool   `json:"alive"`
	Restarts int    `json:"restarts"`
	Log      string `json:"log"`
}

// NodeStatus is about one node.
type NodeStatus struct {
	Name  string `json:"name"`
	Ready bool   `json:"ready"`
}

// ReadStatus finds out how the cluster of a directory is. A directory without
// a cluster is an error, a stopped cluster is not.
func ReadStatus(ctx context.Context, dir Dir) (Status, error) {
	status := Status{Dir: string(dir), Kubeconfig: dir.Kubeconfig(), Versions: Versions()}
	if _, err := dir.readMarker(); err != nil {
		return status, err
	}
	record, err := dir.awaitRecord()
	if err != nil || !record.Supervisor.Alive() {
		return status, err
	}
	status.Running, status.Ready = true, record.Ready
	status.PID, status.URL, status.Started = record.Supervisor.PID, record.URL, &record.Started
	for _, c := range record.Components {
		status.Components = append(status.Components, ComponentStatus{
			Name: c.Name, PID: c.Process.PID, Alive: c.Process.Alive(), Restarts: c.Restarts, Log: dir.Log(c.Name),
		})
	}
	if status.Nodes, err = listNodes(ctx, dir); err != nil {
		status.Problem = err.Error()
	}
	return status, nil
}

func listNodes(ctx context.Context, dir Dir) ([]NodeStatus, error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	w, err := newWaiter(dir.Kubeconfig())
	if err != nil {
		return nil, err
	}
	list, err := w.client.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, fmt.Errorf("list nodes: %w", err)
	}
	statuses := make([]NodeStatus, 0, len(list.Items))
	for _, node := range list.Items {
		statuses = append(statuses, NodeStatus{Name: node.Name, Ready: nodeReady(&node)})
	}
	return statuses, nil
}

// Versions returns the versions of the parts of this program.
func Versions() map[string]string {
	return map[string]string{
		"kubernetes": version.Get().GitVersion,
		"etcd":       moduleVersion("go.etcd.io/etcd/server/v3"),
		"kwok":       moduleVersion("sigs.k8s.io/kwok"),
	}
}
