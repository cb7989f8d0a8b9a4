package components

import (
	"context"
	"flag"
	"fmt"

	"golang.org/x/sync/errgroup"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"kolla.openstack.org/kolla/internal/dev/devcluster/nodes"
	"kolla.openstack.org/kolla/internal/dev/devcluster/storage"
)

// runSimulator plays everything that a real cluster has beside its control
// plane: kubelets and a volume provisioner.
func runSimulator(ctx context.Context, args []string) error {
	var kubelet nodes.Kubelet
	flags := flag.NewFlagSet(Simulator, flag.ContinueOnError)
	kubeconfig := flags.String("kubeconfig", "", "how to reach the API server")
	flags.StringVar(&kubelet.Listen, "listen", "", "where kubelets answer, as host:port")
	flags.StringVar(&kubelet.CertFile, "tls-cert-file", "", "certificate of the kubelets")
	flags.StringVar(&kubelet.KeyFile, "tls-private-key-file", "", "key of the kubelets")
	flags.StringVar(&kubelet.ClientCAFile, "client-ca-file", "", "who may ask the kubelets")
	machines := flags.String("machines", "", "folder with the homes of the real nodes")
	if err := flags.Parse(args); err != nil {
		return err
	}
	config, err := clientcmd.BuildConfigFromFlags("", *kubeconfig)
	if err != nil {
		return fmt.Errorf("read kubeconfig: %w", err)
	}
	// One process stands for many kubelets, so it is not held back like one.
	config.QPS = -1
	config.UserAgent = "devcluster-simulator"
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("use kubeconfig: %w", err)
	}
	kubelet.Client = client

	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return kubelet.Serve(ctx) })
	group.Go(func() error { return nodes.Simulate(ctx, config) })
	group.Go(func() error { return storage.Provision(ctx, client, *machines) })
	return group.Wait()
}
