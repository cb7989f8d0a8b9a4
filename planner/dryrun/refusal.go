// Package dryrun prepares dry runs and explains their results. Dry runs themselves are sent
// by providers.Reader.
//
//   - Classify turns the error of a dry run into a Refusal, and Causes names the fields that
//     the server calls immutable as plans do.
//   - WithoutUnique prepares a manifest for a dry run under a throw-away name, while the old
//     object still has its unique values. AddressHolder finds a conflict that a dry run does
//     not show.
//   - Predict computes the result of an apply when the server cannot be asked.
//   - CRD checks objects against a CustomResourceDefinition that the server does not have
//     yet.
package dryrun

import (
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers"
)

// Refusal says why a dry run failed.
type Refusal struct {
	// World: the error says nothing about the object; another try may succeed.
	World   bool
	Message string
	causes  []metav1.StatusCause
	// Immutable are those causes that forbid only the change, and not the object.
	Immutable []metav1.StatusCause
	// Unasked says which webhook for the object could not be called, and why.
	Unasked string
	// Denied: an admission policy or webhook denied the request. It may object to the object,
	// or only to dry runs.
	Denied bool
	// Shape: the object does not follow the schema that the server has for its kind.
	Shape bool
	// Local: the reason may be the namespace of the dry run.
	Local bool
	// Permission is set if the user may not send the dry run.
	Permission *providers.PermissionError
}

var (
	// unchangeable matches the words of the API server, of CRD rules and of webhooks for a
	// field that cannot change. The reason in the status is Invalid or Forbidden, as for
	// any wrong value.
	unchangeable = regexp.MustCompile(`(?i)\bimmutable\b|(may|must|can) ?not (be )?(change|update|modif)|updates to .* (are|is) forbidden|can ?not be less than status\.capacity`)
	// noDryRun matches the words of the API server for a webhook with side effects.
	noDryRun = regexp.MustCompile(`admission (webhook "[^"]*") does not support dry run`)
	// noAnswer matches the words of the API server for a webhook that cannot be reached, or
	// gives no valid answer: an admission webhook that must not be skipped, or a conversion
	// webhook.
	noAnswer = regexp.MustCompile(`(?:failed calling (webhook "[^"]*")|(conversion webhook) for [^:]* failed)(?s:: (?:failed to call webhook: )?(.*))?`)
	// untyped matches the words of the API server for an object that does not follow the
	// schema of its kind: an unknown field, a wrong type, a duplicate key in a list, an
	// invalid quantity. The status has the code 500 and no reason. The brackets contain the
	// object, perhaps under a throw-away name.
	untyped = regexp.MustCompile(`failed to (?:create typed (?:patch|live) object|create manager for existing fields|convert new object)(?: \([^)]*\))?(?: to proper version)?: `)
)

// Classify explains the error of a dry run.
func Classify(err error) Refusal {
	var status apierrors.APIStatus
	switch {
	case meta.IsNoMatchError(err):
		return Refusal{Shape: true, Message: "the cluster does not have that version of the kind"}
	case !errors.As(err, &status):
		return Refusal{World: true}
	}
	answer := status.Status()
	r := Refusal{Message: answer.Message, Denied: providers.DeniedByAdmission(answer.Message), World: passing(answer)}
	errors.As(err, &r.Permission)
	if at := untyped.FindStringIndex(answer.Message); at != nil {
		r.World = false
		r.Message = plainTypes(answer.Message[at[1]:])
	}
	if answer.Details != nil {
		r.causes = answer.Details.Causes
	}
	r.Unasked = unasked(answer.Message)
	r.Local = answer.Code == http.StatusForbidden
	r.Shape = untyped.MatchString(answer.Message)
	if answer.Reason != metav1.StatusReasonInvalid {
		return r
	}
	// The status of a policy is the same, but for the message.
	r.Shape = r.Shape || !r.Denied
	for _, cause := range r.causes {
		if unchangeable.MatchString(cause.Message) {
			r.Immutable = append(r.Immutable, cause)
		}
	}
	return r
}

// unasked says in plain words which webhook could not be called, and why; empty: all could.
func unasked(message string) string {
	if found := noDryRun.FindStringSubmatch(message); found != nil {
		return fmt.Sprintf("the %s has side effects, and so is not called in a dry run", found[1])
	}
	found := noAnswer.FindStringSubmatch(message)
	if found == nil {
		return ""
	}
	text := fmt.Sprintf("the %s, without which the object is not let in, does not answer", found[1]+found[2])
	if found[3] != "" {
		text += ": " + found[3]
	}
	return text
}

// twice matches the words of the API server, with the code 500, for a Service that asks
// twice for a port.
var twice = regexp.MustCompile(`^duplicate nodePort`)

// passing reports whether the status is about the server or the connection. A webhook that
// denies the object, or does not answer, is about the object, because only such objects meet
// it. It chooses the code itself.
func passing(status metav1.Status) bool {
	if providers.DeniedByAdmission(status.Message) {
		return false
	}
	switch status.Code {
	case http.StatusUnauthorized, http.StatusRequestTimeout, http.StatusConflict, http.StatusTooManyRequests:
		return true
	case http.StatusInternalServerError:
		return !noAnswer.MatchString(status.Message) && !twice.MatchString(status.Message)
	}
	return status.Code < 400 || status.Code > 499
}

// Forbidden returns the evidence for an object for which the user may not send dry runs.
func (r Refusal) Forbidden() plans.Evidence {
	return plans.Evidence{Kind: plans.Unverified, Detail: r.Permission.Error(), Advice: r.Permission.Advice(), Forbidden: true}
}

// Unverified returns the evidence for an object that the server was not asked about, or that
// admission denied a dry run of.
func (r Refusal) Unverified() plans.Evidence {
	why := r.Unasked
	if r.Denied {
		why = "the dry run was denied: " + r.Text()
	}
	return plans.Evidence{Kind: plans.Unverified, Detail: why}
}

// Refused returns the evidence for an object that is not written because admission denied its
// dry run.
func (r Refusal) Refused() plans.Evidence {
	evidence := r.Unverified()
	evidence.Refused = true
	return evidence
}

// Accepted returns the evidence for an object that is written although admission denied its
// dry run.
func (r Refusal) Accepted() plans.Evidence {
	evidence := r.Unverified()
	evidence.Advice = "They are written without a dry run first, as -allow-unverified or allow_unverified in a lifecycle block permits."
	return evidence
}

// Text returns all objections in one line.
func (r Refusal) Text() string { return strings.Join(r.Lines(), "; ") }

// Lines returns the causes, or the message if there are none.
func (r Refusal) Lines() []string {
	var lines []string
	for _, cause := range r.causes {
		line := brief(cause.Message)
		if cause.Field != "" && cause.Field != "<nil>" {
			line = cause.Field + ": " + line
		}
		lines = append(lines, line)
	}
	if len(lines) == 0 {
		lines = []string{r.Message}
	}
	return lines
}

// maxValue limits how much of a wrong value is quoted, in bytes.
const maxValue = 60

// brief removes a long value from a message such as "Invalid value: {...}: field is
// immutable". The server prints whole pod templates there, which may contain secrets.
func brief(message string) string {
	value, ok := strings.CutPrefix(message, "Invalid value: ")
	end := strings.LastIndex(value, ": ")
	if !ok || end <= maxValue {
		return message
	}
	return "Invalid value: " + value[end+len(": "):]
}
