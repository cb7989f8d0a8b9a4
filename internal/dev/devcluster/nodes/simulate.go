package nodes

import (
	"context"
	"fmt"
	"os"

	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	"sigs.k8s.io/kwok/pkg/kwok/controllers"
	"sigs.k8s.io/kwok/pkg/log"
)

// holder is the name under which the nodes' leases are held. It is the same in
// every run: with a new one, as kwok's own program takes, a restarted simulator
// would wait for the leases of the one before to run out. The supervisor sees
// to it that there is only one.
const holder = "devcluster"

// Simulate plays the kubelets of the simulated nodes until ctx ends.
func Simulate(ctx context.Context, config *rest.Config) error {
	// Below this level there is a line for each node every ten seconds.
	ctx = log.NewContext(ctx, log.NewLogger(os.Stderr, log.LevelWarn))
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("simulate nodes: %w", err)
	}
	dynamicClient, err := dynamic.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("simulate nodes: %w", err)
	}
	controller, err := controllers.NewController(controllers.Config{
		Clock:         clock.RealClock{},
		TypedClient:   client,
		DynamicClient: dynamicClient,
		RESTClient:    client.RESTClient(),
		ID:            holder,
		LocalStages:   stages(),
		FuncMap:       templateFuncs(),

		ManageNodesWithLabelSelector: simulatedLabel + "=" + simulatedValue,
		CIDR:                         "10.0.0.0/24",
		NodeLeaseDurationSeconds:     40,
		NodeLeaseParallelism:         4,
		NodePlayStageParallelism:     4,
		PodPlayStageParallelism:      4,
		PodsOnNodeSyncParallelism:    1,

		EnablePodsOnNodeSyncListPager: true,
	})
	if err != nil {
		return fmt.Errorf("simulate nodes: %w", err)
	}
	if err := controller.Start(ctx); err != nil {
		return fmt.Errorf("simulate nodes: %w", err)
	}
	<-ctx.Done()
	return nil
}
