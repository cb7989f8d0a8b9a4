// Package smoke tries a cloud from outside, as its users do: it gets a token, uploads an image, makes a network,
// boots a server, and so on, through the public endpoints.
//
// [Run] makes everything in a project of its own, with a user of its own, and removes both at the end. What a run
// left behind that was killed is removed by the next one, or by [Clean].
package smoke

import (
	"cmp"
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"kolla.openstack.org/kolla/internal/base/failure"
	"kolla.openstack.org/kolla/internal/base/words"
)

// Cloud is a cloud to try.
type Cloud struct {
	Name, Region string
	Keystone     string // its public URL
	Password     string // of the administrator
	Trust        *x509.CertPool
	// Services are the services that the configuration declares, by the type of their endpoint. Dashboard is among
	// them.
	Services map[string]Service
	// Image, Flavor and ExternalNetwork are names or IDs; empty: the smallest public image, the smallest flavor that
	// is large enough, and the first external network.
	Image, Flavor, ExternalNetwork string
	// Patience limits the time of each check, and that of cleaning up.
	Patience time.Duration
	// Users returns the users that the services log in as, with their passwords, as far as these are known.
	Users func(context.Context) []User
	// Hide is told the secret values that a run makes or gets. Mask removes secret values from text of servers.
	Hide func(value string)
	Mask func(text string) string
}

// Service is a service of the configuration.
type Service struct {
	Name    string // for commands such as kolla logs
	Exposed bool   // clients outside can reach it
	URL     string // of the dashboard, which has no endpoint in Keystone's catalogue
}

// Dashboard is the type of Horizon in Cloud.Services.
const Dashboard = "dashboard"

// Check is one use of the cloud.
type Check struct {
	Name        string // "floating-ip"
	Description string // a phrase of what is tried
	Service     string // the type of the endpoint that it uses
	needs       []string
	after       []string // checks that must have succeeded if they run
	try         func(*trial, context.Context) error
}

// Checks returns all checks, in their order.
func Checks() []Check {
	return []Check{
		{"token", "a user of a new project logs in", identity, nil, nil, (*trial).token},
		{"image", "an image is uploaded, and comes back as it was", image, []string{"token"}, nil, (*trial).image},
		{"network", "a network, a subnet, a router and a security group", network, []string{"token"}, nil, (*trial).network},
		{"server", "a server boots on the network", compute, []string{"network"}, nil, (*trial).server},
		{"console", "the server writes to its console", compute, []string{"server"}, nil, (*trial).console},
		{"floating-ip", "the server answers at a floating IP", network, []string{"server"}, nil, (*trial).floatingIP},
		{"volume", "a volume of 1 GB", volume, []string{"token"}, nil, (*trial).volume},
		// A guest that has not booted may keep a volume that it is to give back.
		{"attachment", "the server gets the volume, and gives it back", compute, []string{"server", "volume"}, []string{"console"}, (*trial).attachment},
		{"secret", "a secret is stored, and comes back as it was", secret, []string{"token"}, nil, (*trial).secret},
		{"stack", "a stack with a random string", stack, []string{"token"}, nil, (*trial).stack},
		{"dashboard", "the page on which users log in", Dashboard, nil, nil, (*trial).dashboard},
	}
}

// Select returns the checks named by only with those that they need, or all of them if it is empty, without those
// named by skip. An unknown name is an error that lists the names.
func Select(only, skip []string) ([]Check, error) {
	all := Checks()
	var known []string
	for _, c := range all {
		known = append(known, c.Name)
	}
	for _, name := range slices.Concat(only, skip) {
		if !slices.Contains(known, name) {
			return nil, failure.New(fmt.Sprintf("No check %q", name), words.WithHint(words.DidYouMean(name, known), "The checks are: "+words.All(known)+"."))
		}
	}
	wanted := slices.Clone(only)
	for _, c := range slices.Backward(all) { // a check comes after those that it needs
		if slices.Contains(wanted, c.Name) {
			wanted = append(append(wanted, c.needs...), c.after...)
		}
	}
	chosen := slices.DeleteFunc(all, func(c Check) bool {
		return len(only) > 0 && !slices.Contains(wanted, c.Name) || slices.Contains(skip, c.Name)
	})
	if len(chosen) == 0 {
		return nil, failure.New("No check is left", "-only and -skip name the same checks. Leave one of them out.")
	}
	return chosen, nil
}

// Outcome is how a check ended.
type Outcome string

// The outcomes.
const (
	OK      Outcome = "ok"
	Failed  Outcome = "failed"
	Skipped Outcome = "skipped"
)

// Result is the result of one check.
type Result struct {
	Check   Check
	Outcome Outcome
	Took    time.Duration
	Problem string   // of a check that failed, or the reason for which it was skipped; sentences
	Request *Request // that failed; nil: none did
	Next    string   // what to look at next
	Unasked bool     // the configuration has no service for it that is reachable from outside
}

// Report is the result of a run.
type Report struct {
	Cloud, Keystone string
	Began           time.Time
	Results         []Result
	// Causes are further faults that a run with failures found: sentences.
	Causes []string
	// Left are projects of checks that could not be removed, with the reason.
	Left []string
	// Interrupted: the checks that are missing did not run to their end.
	Interrupted bool
}

// Count returns the number of results with an outcome.
func (r *Report) Count(outcome Outcome) (n int) {
	for _, result := range r.Results {
		if result.Outcome == outcome {
			n++
		}
	}
	return n
}

// Clean reports whether the run came to its end, no check failed, and nothing was left behind.
func (r *Report) Clean() bool { return !r.Interrupted && r.Count(Failed)+len(r.Left) == 0 }

// Summary says in one sentence how the checks ended.
func (r *Report) Summary() string {
	return fmt.Sprintf("%s: %d ok, %d failed, %d skipped.", words.Count(len(r.Results), "check"), r.Count(OK), r.Count(Failed), r.Count(Skipped))
}

// trial is a run, with what its checks have made for later ones.
type trial struct {
	cloud   *Cloud
	admin   *session // nil: the administrator could not log in
	user    *session // of the project
	project project
	made    made
}

// made are the IDs of what checks have made; empty: it was not made.
type made struct {
	network, external, group string
	server, volume           string
}

// Run runs the checks, and shows each result when it is there. It cleans up, also after the end of ctx. Only the end
// of ctx is an error.
func Run(ctx context.Context, cloud *Cloud, checks []Check, show func(Result)) (*Report, error) {
	t := &trial{cloud: cloud, project: newProject()}
	report := &Report{Cloud: cloud.Name, Keystone: cloud.Keystone, Began: time.Now()}
	for _, c := range checks {
		if ctx.Err() != nil {
			break
		}
		result := t.result(ctx, c, report.Results)
		if ctx.Err() != nil {
			break // the check was cut off
		}
		report.Results = append(report.Results, result)
		show(result)
	}
	if report.Count(Failed) > 0 && ctx.Err() == nil {
		t.stayAlive(ctx)
		report.Causes = t.causes(ctx)
	}
	report.Left = t.cleanUp(context.WithoutCancel(ctx))
	report.Interrupted = ctx.Err() != nil
	return report, ctx.Err()
}

// result runs a check, unless something that it needs is missing.
func (t *trial) result(ctx context.Context, c Check, before []Result) Result {
	result := Result{Check: c, Outcome: Skipped}
	service, declared := t.cloud.Services[c.Service]
	switch {
	case !declared:
		result.Unasked = true
		result.Problem = fmt.Sprintf("The configuration declares no service of type %s.", c.Service)
		return result
	case !service.Exposed:
		result.Unasked = true
		result.Problem = fmt.Sprintf("Service %q is not reachable from outside: it has no expose.", service.Name)
		return result
	}
	if name := c.missing(before); name != "" {
		result.Problem = fmt.Sprintf("It needs the check %s.", name)
		result.Unasked = slices.ContainsFunc(before, func(r Result) bool { return slices.Contains(c.needs, r.Check.Name) && r.Unasked })
		return result
	}
	t.stayAlive(ctx)
	limited, cancel := t.cloud.limited(ctx)
	defer cancel()
	began := time.Now()
	err := c.try(t, limited)
	result.Took = time.Since(began)
	var unmade *unmadeError
	switch {
	case err == nil:
		result.Outcome = OK
	case errors.As(err, &unmade):
		result.Problem = unmade.why
	default:
		result.Outcome = Failed
		result.Problem, result.Request = explain(limited, err)
		result.Problem = t.cloud.Mask(result.Problem)
		result.Next = next(err, service.Name)
	}
	return result
}

// missing returns the name of a check that did not succeed before, and that this one needs; empty: there is none.
func (c Check) missing(before []Result) string {
	for _, name := range slices.Concat(c.needs, c.after) {
		at := slices.IndexFunc(before, func(r Result) bool { return r.Check.Name == name })
		if at < 0 && slices.Contains(c.needs, name) || at >= 0 && before[at].Outcome != OK {
			return name
		}
	}
	return ""
}

// unmadeError is why a check could not be run: nothing is wrong with the service.
type unmadeError struct{ why string }

func (e *unmadeError) Error() string { return e.why }

// limited returns a context that ends after the time of a check.
func (c *Cloud) limited(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, c.Patience, fmt.Errorf("timed out after %s (-timeout)", c.Patience))
}

// await looks again and again until something is done, at last every second. state is its state so far.
func await(ctx context.Context, what string, look func() (done bool, state string, err error)) error {
	last := "without a state"
	for pause := 10 * time.Millisecond; ; pause = min(2*pause, time.Second) {
		done, state, err := look()
		if ctx.Err() == nil && (done || err != nil) {
			return err
		}
		last = cmp.Or(state, last)
		select {
		case <-ctx.Done():
			return &faultError{problem: fmt.Sprintf("%s is still %s: %v.", what, strings.ToLower(last), context.Cause(ctx))}
		case <-time.After(pause):
		}
	}
}
