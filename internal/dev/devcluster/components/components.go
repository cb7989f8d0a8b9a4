// Package components runs one part of the cluster in the calling process. The
// supervisor starts its own program again for each of them, because most can
// be constructed only once in a process and each must be able to fail alone.
package components

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	_ "time/tzdata" // time zones of CronJobs, where the machine has no database

	"github.com/spf13/cobra"
	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/metrics/prometheus/clientgo"
	_ "k8s.io/component-base/metrics/prometheus/version"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	controllermanager "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"

	"kolla.openstack.org/kolla/internal/dev/devcluster/lifeline"
)

// Verb is the first argument that makes the program a component; the second is
// the component's name.
const Verb = "component"

// The components, named as their logs are.
const (
	Etcd              = "etcd"
	APIServer         = "kube-apiserver"
	ControllerManager = "kube-controller-manager"
	Scheduler         = "kube-scheduler"
	// Simulator plays the kubelets of the simulated nodes and provisions volumes.
	Simulator = "simulator"
)

// Run runs the component name with its flags until it ends, and returns the
// exit code for the process.
func Run(name string, args []string) int {
	lifeline.Follow(nil)
	switch name {
	case Etcd:
		return runWithSignals(name, args, runEtcd)
	case Simulator:
		return runWithSignals(name, args, runSimulator)
	case APIServer:
		return runCobra(apiserver.NewAPIServerCommand(), args)
	case ControllerManager:
		return runCobra(controllermanager.NewControllerManagerCommand(), args)
	case Scheduler:
		return runCobra(scheduler.NewSchedulerCommand(), args)
	default:
		fmt.Fprintf(os.Stderr, "run component: there is no component %q\n", name)
		return 2
	}
}

func runCobra(command *cobra.Command, args []string) int {
	command.SetArgs(args)
	return cli.Run(command)
}

func runWithSignals(name string, args []string, run func(context.Context, []string) error) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, args); err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", name, err)
		return 1
	}
	return 0
}
