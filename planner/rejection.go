package planner

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

// rejection is why a dry run gave no answer.
type rejection struct {
	// world: nothing was said about the object; asking again may help.
	world   bool
	message string
	causes  []metav1.StatusCause
	// immutable are those of the causes that forbid only the change, not the
	// object.
	immutable []metav1.StatusCause
	// unasked: the object meets a webhook that cannot be asked; why.
	unasked string
	// shape: the object is not as its kind has to be, by the schema that the server
	// knows.
	shape bool
	// local: it may be up to the namespace that the object was tried in.
	local bool
	// permission: the user may not even ask; nil: they may.
	permission *providers.PermissionError
}

var (
	// unchangeable is how the API server, CRD rules and webhooks word that a field
	// cannot change. There is no type for it: the reason is Invalid or Forbidden,
	// as for any wrong value.
	unchangeable = regexp.MustCompile(`(?i)\bimmutable\b|(may|must|can) ?not (be )?(change|update|modif)|updates to .* (are|is) forbidden|can ?not be less than status\.capacity`)
	// noDryRun is how the API server words that a webhook has side effects.
	noDryRun = regexp.MustCompile(`admission (webhook "[^"]*") does not support dry run`)
	// noAnswer is how it words that a webhook cannot be reached, or makes no sense: one
	// of admission that must not be left out, or one that converts between versions.
	noAnswer = regexp.MustCompile(`(?:failed calling (webhook "[^"]*")|(conversion webhook) for [^:]* failed)(?s:: (?:failed to call webhook: )?(.*))?`)
	// untyped is how the API server words that an object does not fit the schema of
	// its kind: an unknown field, a wrong type, a list key that is there twice, a
	// quantity that is none. It answers so with 500 and without a reason. In brackets
	// it names the object, which may be under a throw-away name.
	untyped = regexp.MustCompile(`failed to (?:create typed (?:patch|live) object|create manager for existing fields|convert new object)(?: \([^)]*\))?(?: to proper version)?: `)
)

// classify finds out what an error of a dry run means.
func classify(err error) rejection {
	var status apierrors.APIStatus
	switch {
	case meta.IsNoMatchError(err):
		return rejection{shape: true, message: "the cluster does not have that version of the kind"}
	case !errors.As(err, &status):
		return rejection{world: true}
	}
	answer := status.Status()
	r := rejection{message: answer.Message, world: passing(answer)}
	errors.As(err, &r.permission)
	if at := untyped.FindStringIndex(answer.Message); at != nil {
		r.world = false
		r.message = plainTypes(answer.Message[at[1]:])
	}
	if answer.Details != nil {
		r.causes = answer.Details.Causes
	}
	r.unasked = unasked(answer.Message)
	r.local = answer.Code == http.StatusForbidden
	r.shape = untyped.MatchString(answer.Message)
	if answer.Reason != metav1.StatusReasonInvalid {
		return r
	}
	// Policies say it in the same way.
	r.shape = r.shape || !strings.Contains(answer.Message, "denied request") && !strings.Contains(answer.Message, "denied the request")
	for _, cause := range r.causes {
		if unchangeable.MatchString(cause.Message) {
			r.immutable = append(r.immutable, cause)
		}
	}
	return r
}

// unasked says in plain words which webhook could not be asked and why; empty: all
// were.
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

// twice is how the API server words, with 500, that a Service asks for one port twice.
var twice = regexp.MustCompile(`^duplicate nodePort`)

// passing reports whether the status is about the server or the connection. A
// webhook that does not answer is about the object: only objects like it meet it.
func passing(status metav1.Status) bool {
	switch status.Code {
	case http.StatusUnauthorized, http.StatusRequestTimeout, http.StatusConflict, http.StatusTooManyRequests:
		return true
	case http.StatusInternalServerError:
		return !noAnswer.MatchString(status.Message) && !twice.MatchString(status.Message)
	}
	return status.Code < 400 || status.Code > 499
}

// problemOf is a problem of a desired object.
func problemOf(object *providers.Object, summary, detail string) plans.Problem {
	return plans.Problem{Address: object.Address, Source: object.Source, Summary: summary, Detail: detail}
}

// refuse names a problem of the subject.
func (s *subject) refuse(summary, detail string) {
	s.problems = append(s.problems, problemOf(s.object, summary, detail))
}

// withdraw takes back what was decided, because of a problem.
func (s *subject) withdraw(summary, detail string) {
	s.action.Verb = ""
	s.refuse(summary, detail)
}

// reject says what the server has against the object: its causes where it gives
// any, since its message only strings them together.
//
// A missing permission is named in the same words for all that it keeps from being
// planned: it is one problem.
func (s *subject) reject(r rejection) {
	if r.permission != nil {
		s.refuse(r.permission.Error(), "A dry run needs this right; nothing is written by it.\n"+r.permission.Advice())
		return
	}
	s.rejectBy("the cluster", r)
}

// rejectBy is reject, of something else that does not accept the object.
func (s *subject) rejectBy(who string, r rejection) {
	s.refuse(fmt.Sprintf("%s does not accept %s", who, s.action.Ref), strings.Join(r.lines(), "\n"))
}

// forbidden is the evidence for an object about which the user may not ask.
func (r rejection) forbidden() plans.Evidence {
	return plans.Evidence{Kind: plans.Unverified, Detail: r.permission.Error(), Advice: r.permission.Advice(), Forbidden: true}
}

// text is all that there is against the object, in one line.
func (r rejection) text() string { return strings.Join(r.lines(), "; ") }

// lines are the causes, or the message where there are none.
func (r rejection) lines() []string {
	var lines []string
	for _, cause := range r.causes {
		line := brief(cause.Message)
		if cause.Field != "" && cause.Field != "<nil>" {
			line = cause.Field + ": " + line
		}
		lines = append(lines, line)
	}
	if len(lines) == 0 {
		lines = []string{r.message}
	}
	return lines
}

// warn tells the operator something about the subject that stands in nobody's way.
func (s *subject) warn(summary, detail string) {
	problem := problemOf(s.object, summary, detail)
	problem.Warning = true
	s.problems = append(s.problems, problem)
}

// longestValue is how much of a wrong value is quoted.
const longestValue = 60

// brief takes a long value out of a message such as "Invalid value: {...}: field
// is immutable": the server prints whole pod templates there, and what is in them.
func brief(message string) string {
	value, ok := strings.CutPrefix(message, "Invalid value: ")
	end := strings.LastIndex(value, ": ")
	if !ok || end <= longestValue {
		return message
	}
	return "Invalid value: " + value[end+len(": "):]
}
