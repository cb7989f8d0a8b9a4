// Package components runs one part of the cluster in the calling process. The
// supervisor starts its own program again for each of them, because most can
// be constructed only once in a process and each must be able to fail alone.
package components

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	_ "time/tzdata" // time zones of CronJobs, where the machine has no database

	"github.com/spf13/cobra"
	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/metrics/prometheus/clientgo"
	_ "k8s.io/component-base/metrics/prometheus/version"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	controllermanager "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"
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

// Names lists the components in the order in which they are started.
func Names() []string {
	return []string{Etcd, APIServer, ControllerManager, Scheduler, Simulator}
}

// Lifeline is the file descriptor on which a component notices the end of its
// supervisor: the other end is closed when that process ends in any way.
const Lifeline = 3

// LifelineVariable is set in the environment of a component that has one.
const LifelineVariable = "DEVCLUSTER_LIFELINE"

// Run runs the component name with its flags until it ends, and returns the
// exit code for the process.
func Run(name string, args []string) int {
	if os.Getenv(LifelineVariable) != "" {
		go followLifeline()
	}
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
		_, err := FullName(name)
		fmt.Fprintln(os.Stderr, "run component:", err)
		return 2
	}
}

// FullName is the name of a component that a user named, perhaps without the
// kube- in front.
func FullName(name string) (string, error) {
	for _, full := range []string{name, "kube-" + name} {
		if slices.Contains(Names(), full) {
			return full, nil
		}
	}
	return "", fmt.Errorf("there is no component %q; there are %s", name, strings.Join(Names(), ", "))
}

// followLifeline ends this process at once when the supervisor is gone: nobody
// would stop or restart it any more.
func followLifeline() {
	_, _ = io.Copy(io.Discard, os.NewFile(Lifeline, "lifeline"))
	fmt.Fprintln(os.Stderr, "the supervisor is gone; ending too")
	os.Exit(1)
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
