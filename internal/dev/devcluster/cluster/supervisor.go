package cluster

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
	"time"

	"kolla.openstack.org/kolla/internal/dev/devcluster/components"
	"kolla.openstack.org/kolla/internal/dev/devcluster/machine"
	"kolla.openstack.org/kolla/internal/dev/devcluster/nodes"
	"kolla.openstack.org/kolla/internal/dev/devcluster/pki"
)

// Options describe the cluster.
type Options struct {
	Dir Dir
	// Nodes are made if they are not there yet. A cluster that is started for
	// the first time without any gets node-1.
	Nodes []nodes.Spec
	// NodesGiven distinguishes a request for no nodes from a missing option.
	NodesGiven bool
	// Real asks for real nodes beside the simulated ones.
	Real Real
	// Audit makes the API server write an audit log.
	Audit bool
	// Progress is given one short line, without its end, for each step.
	Progress func(line string)
	// Ready is called once, when pods can be created and run.
	Ready func()
}

// startLimit is how long a start may take on a busy machine.
const startLimit = 3 * time.Minute

// Run starts the cluster and keeps it running until ctx ends, then stops it.
// It returns nil when it was stopped that way.
func Run(ctx context.Context, options Options) error {
	dir := options.Dir
	if err := options.Real.check(options.Nodes); err != nil {
		return err
	}
	if err := dir.prepare(); err != nil {
		return err
	}
	if err := options.Real.try(dir); err != nil {
		return err
	}
	held, err := dir.take()
	if err != nil {
		return err
	}
	defer held.Close()

	s := &supervisor{Options: options, began: time.Now(), failed: make(chan error, 1)}
	if err := s.prepare(); err != nil {
		return err
	}
	startCtx, cancel := context.WithTimeout(ctx, startLimit)
	err = s.start(startCtx)
	cancel()
	switch {
	case err == nil:
		s.Progress("stopping: " + s.reasonToStop(ctx))
	case ctx.Err() != nil:
		s.Progress("stopped while starting")
		err = nil
	case errors.Is(err, context.DeadlineExceeded):
		err = fmt.Errorf("start cluster: not ready after %s (%w); see the logs in %s", startLimit, err, dir.join(logsFolder))
	}
	return errors.Join(err, s.stop())
}

// supervisor is the state of a running cluster.
type supervisor struct {
	Options
	ports ports
	began time.Time
	// lifeline is closed, by the kernel at the latest, when this process ends.
	lifeline, lifelineEnd *os.File

	mu sync.Mutex
	// children are in the order in which they were started.
	children []*child
	ready    bool
	failed   chan error
}

// prepare brings the directory into the state that a start needs, also after an unclean end of
// the previous run.
func (s *supervisor) prepare() error {
	if err := s.Dir.endLeftovers(); err != nil {
		return err
	}
	if err := s.Dir.removeOldFiles(); err != nil {
		return err
	}
	if err := s.Dir.rotateLogs(); err != nil {
		return err
	}
	m, err := s.Dir.readMarker()
	if err != nil {
		return err
	}
	if s.ports, err = choosePorts(m.Ports); err != nil {
		return err
	}
	if m.Ports.APIServer != 0 && m.Ports.APIServer != s.ports.APIServer {
		s.Progress(fmt.Sprintf("port %d is taken; the API server moves to %d", m.Ports.APIServer, s.ports.APIServer))
	}
	m.Ports = s.ports
	if err := s.Dir.writeMarker(m); err != nil {
		return fmt.Errorf("remember ports: %w", err)
	}
	if err := pki.Ensure(s.Dir.join(pkiFolder)); err != nil {
		return err
	}
	if err := s.Dir.writeConfig(s.ports); err != nil {
		return err
	}
	if err := s.prepareMachines(); err != nil {
		return err
	}
	if s.lifelineEnd, s.lifeline, err = os.Pipe(); err != nil {
		return fmt.Errorf("make lifeline: %w", err)
	}
	return s.record()
}

// start brings up the components. The API server is started along with etcd,
// which it waits for; the others only when it answers, because a refused first
// request makes them pause for seconds.
func (s *supervisor) start(ctx context.Context) error {
	w, err := newWaiter(s.Dir.Kubeconfig())
	if err != nil {
		return err
	}
	s.launchFabric()
	s.launchComponent(components.Etcd)
	s.launchComponent(components.APIServer)
	type step struct {
		name string
		do   func(context.Context) error
	}
	steps := []step{
		{components.Etcd, func(ctx context.Context) error { return etcdAnswers(ctx, s.Dir) }},
		{components.APIServer, w.apiServerReady},
		{"", func(context.Context) error {
			s.launchComponent(components.ControllerManager)
			s.launchComponent(components.Scheduler)
			s.launchComponent(components.Simulator)
			s.launchMachines()
			return nil
		}},
		{"storage class", func(ctx context.Context) error { return w.storageClass(ctx, s.Real.Nodes > 0) }},
		{"nodes", s.nodesReady(w)},
		{components.ControllerManager, w.serviceAccount},
	}
	if s.Real.Nodes > 0 {
		steps = append(steps, step{"cluster DNS", func(ctx context.Context) error { return s.startDNS(ctx, w) }})
	}
	for _, step := range steps {
		if err := s.waitFor(ctx, step.do); err != nil {
			return fmt.Errorf("start %s: %w", step.name, err)
		}
		if step.name != "" {
			s.Progress(fmt.Sprintf("%s ready (%.1f s)", step.name, time.Since(s.began).Seconds()))
		}
	}
	s.locked(func() { s.ready = true })
	if err := s.record(); err != nil {
		return err
	}
	if s.Ready != nil {
		s.Ready()
	}
	return nil
}

// reasonToStop waits for a reason to stop. A removed directory is a reason, because the
// cluster is useless then and no command could stop it.
func (s *supervisor) reasonToStop(ctx context.Context) string {
	ticker := time.NewTicker(2 * time.Second)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return "asked to"
		case <-ticker.C:
		}
		if _, err := os.Stat(s.Dir.join(markerFile)); errors.Is(err, fs.ErrNotExist) {
			return "its directory is gone"
		}
	}
}

// waitFor does a step of the start, which ends early when a component fails.
func (s *supervisor) waitFor(ctx context.Context, step func(context.Context) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() {
		select {
		case err := <-s.failed:
			cancel(err)
		case <-ctx.Done():
		}
	}()
	err := step(ctx)
	if cause := context.Cause(ctx); err != nil && ctx.Err() == context.Canceled && cause != context.Canceled {
		return cause
	}
	return err
}

func (s *supervisor) nodesReady(w *waiter) func(context.Context) error {
	return func(ctx context.Context) error {
		specs := s.Nodes
		if !s.NodesGiven {
			any, err := w.anyNodes(ctx)
			if err != nil {
				return err
			}
			if !any && s.Real.Nodes == 0 {
				specs = nodes.Numbered(1)
			}
		}
		err := poll(ctx, func(ctx context.Context) error {
			return nodes.Ensure(ctx, w.client, specs, s.ports.Kubelet)
		})
		if err != nil {
			return err
		}
		return w.nodesReady(ctx, append(specs, s.Real.specs()...), s.began)
	}
}

// The stages in which the components are stopped.
const (
	stopClients = iota
	stopAPIServer
	stopEtcd
)

// launchComponent starts a part of this program and keeps it running.
func (s *supervisor) launchComponent(name string) {
	stages := map[string]int{components.APIServer: stopAPIServer, components.Etcd: stopEtcd}
	s.launch(&child{
		name:    name,
		program: self,
		args:    append([]string{components.Verb, name}, s.Dir.flags(name, s.ports, s.Options)...),
		stage:   stages[name],
	})
}

// launch starts a child and keeps it running.
func (s *supervisor) launch(c *child) {
	c.dir = s.Dir
	c.alive = s.lifelineEnd
	c.ended = s.ended
	c.stopping = make(chan struct{})
	c.done = make(chan struct{})
	c.changed = func() {
		if err := s.record(); err != nil {
			s.Progress(err.Error())
		}
	}
	s.locked(func() { s.children = append(s.children, c) })
	go c.run(s.locked)
}

func (s *supervisor) locked(do func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	do()
}

// ended is called when a component ends by itself. While the cluster starts,
// the third time is taken for a mistake that will not go away.
func (s *supervisor) ended(c *child, how string) {
	const patience = 3
	var ready bool
	var times int
	s.locked(func() {
		ready = s.ready
		times = c.state.restarts + 1
	})
	next := "is started again"
	if _, err := os.Stat(s.Dir.offFile(c.name)); err == nil {
		next = "stays off"
	}
	s.Progress(fmt.Sprintf("%s ended (%s) and %s", c.name, how, next))
	if !ready && times >= patience {
		err := fmt.Errorf("%s ended %d times; its log %s says:\n%s", c.name, times, s.Dir.Log(c.name), s.Dir.logTail(c.name, 10))
		select {
		case s.failed <- err:
		default:
		}
	}
}

// record writes the Record for other processes.
func (s *supervisor) record() error {
	me, err := identify(os.Getpid())
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	record := Record{Supervisor: me, Ready: s.ready, Started: s.began, URL: s.ports.url()}
	if s.Real.Nodes > 0 {
		record.Programs = s.Real.Programs
	}
	for _, c := range s.children {
		if c.state.started {
			record.Components = append(record.Components, ComponentRecord{
				Name: c.name, Process: c.state.process, Restarts: c.state.restarts,
			})
		}
	}
	if err := writeJSON(s.Dir.recordFile(), record); err != nil {
		return fmt.Errorf("record what runs: %w", err)
	}
	return nil
}

// stop ends the components, those that others need last.
func (s *supervisor) stop() error {
	const grace = 5 * time.Second
	var all []*child
	s.locked(func() {
		for _, c := range s.children {
			close(c.stopping)
			all = append(all, c)
		}
	})
	var errs []error
	for stage := stopClients; stage <= stopEtcd; stage++ {
		var wg sync.WaitGroup
		results := make([]error, len(all))
		for i, c := range all {
			if c.stage != stage {
				continue
			}
			wg.Go(func() {
				var process Process
				s.locked(func() { process = c.state.process })
				results[i] = c.stop(process, grace)
			})
		}
		wg.Wait()
		errs = append(errs, results...)
	}
	if s.Real.Nodes > 0 {
		// Even when their folder is gone.
		errs = append(errs, machine.RemoveCgroup(s.Dir.cgroup()))
	}
	s.lifeline.Close()
	s.lifelineEnd.Close()
	if err := errors.Join(errs...); err != nil {
		return err
	}
	return s.Dir.removeRecord()
}
