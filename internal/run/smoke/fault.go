package smoke

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/gophercloud/gophercloud/v2"

	"kolla.openstack.org/kolla/internal/base/words"
	"kolla.openstack.org/kolla/internal/run/reach"
)

// faultError is something that a service did wrong.
type faultError struct {
	problem string // sentences
	next    string // a command; empty: that of the service
}

func (e *faultError) Error() string { return e.problem }

// Request is a request that failed.
type Request struct {
	Method string `json:"method"`
	URL    string `json:"url"` // without a query
	Status int    `json:"status,omitempty"`
	ID     string `json:"request_id,omitempty"`
}

// String is "GET URL: HTTP 503, request req-1".
func (r *Request) String() string {
	text := r.Method + " " + r.URL
	if r.Status != 0 {
		text += fmt.Sprintf(": HTTP %d", r.Status)
	}
	if r.ID != "" {
		text += ", request " + r.ID
	}
	return text
}

// requestIDs are the headers in which services name a request.
var requestIDs = []string{"X-Openstack-Request-Id", "X-Compute-Request-Id"}

// explain says what an error of a check means, and which request failed; nil: none did.
func explain(ctx context.Context, err error) (problem string, request *Request) {
	var (
		fault    *faultError
		answer   gophercloud.ErrUnexpectedResponseCode
		unanswer *url.Error
		decode   *json.SyntaxError
	)
	switch {
	case errors.As(err, &fault):
		return fault.problem, nil
	case errors.As(err, &answer):
		request = &Request{Method: answer.Method, URL: plain(answer.URL), Status: answer.Actual}
		for _, header := range requestIDs {
			request.ID = cmp.Or(request.ID, answer.ResponseHeader.Get(header))
		}
		return meaning(answer), request
	case errors.As(err, &unanswer):
		return words.Capital(reach.Why(ctx, err)) + ".", &Request{Method: strings.ToUpper(unanswer.Op), URL: plain(unanswer.URL)}
	case errors.As(err, &decode):
		return "The answer is no JSON.", nil
	case ctx.Err() != nil:
		return words.Capital(context.Cause(ctx).Error()) + ".", nil
	}
	return "The answer is not as the API describes it.", nil
}

// told says what an error means, and which request failed.
func (c *Cloud) told(ctx context.Context, err error) string {
	problem, request := explain(ctx, err)
	if request != nil {
		problem += " (" + request.String() + ")"
	}
	return c.Mask(problem)
}

// hint adds a possible cause, and what to look at next, to something that a service did wrong.
func hint(err error, cause, next string) error {
	var fault *faultError
	if errors.As(err, &fault) {
		fault.problem += " " + cause
		fault.next = cmp.Or(next, fault.next)
	}
	return err
}

// plain returns a URL without its query.
func plain(text string) string {
	text, _, _ = strings.Cut(text, "?")
	return text
}

// meaning says what a status means. The message of the server follows.
func meaning(answer gophercloud.ErrUnexpectedResponseCode) string {
	text := "The service refuses the request"
	switch status := answer.Actual; {
	case status == http.StatusUnauthorized && strings.HasSuffix(answer.URL, "/auth/tokens"):
		return "Keystone refuses the name or the password."
	case status == http.StatusUnauthorized:
		text = "The service does not accept a token of Keystone"
	case status == http.StatusForbidden:
		text = "The service does not permit it: a rule, or a quota"
	case status == http.StatusServiceUnavailable:
		text = "No pod of the service answers, or it cannot work: it may not reach Keystone, its database or its queue"
	case status == http.StatusBadGateway, status == http.StatusGatewayTimeout:
		text = "The proxy in front of the service gets no answer from it"
	case status >= http.StatusInternalServerError:
		text = "The service has an error of its own, which is in its log"
	}
	if said := messageIn(answer.Body); said != "" {
		return text + ". It says: " + strings.TrimSuffix(said, ".") + "."
	}
	return text + "."
}

// messageIn returns the message in the JSON of an error of OpenStack; empty: there is none. Other bodies are pages.
func messageIn(body []byte) string {
	var document any
	if json.Unmarshal(body, &document) != nil {
		return ""
	}
	return messageOf(document)
}

// messageKeys are the keys of messages, the first ones first.
var messageKeys = []string{"message", "description", "faultstring", "detail"}

// messageOf returns the first message in a document: {"badRequest": {"message": "..."}}, {"errors": [{"detail": "..."}]}.
func messageOf(document any) string {
	switch document := document.(type) {
	case map[string]any:
		for _, key := range messageKeys {
			if text, ok := document[key].(string); ok && oneLine(text) != "" {
				return oneLine(text)
			}
		}
		for _, key := range slices.Sorted(maps.Keys(document)) {
			if text := messageOf(document[key]); text != "" {
				return text
			}
		}
	case []any:
		for _, value := range document {
			if text := messageOf(value); text != "" {
				return text
			}
		}
	}
	return ""
}

// tag matches the tags that Glance puts into the text of a message: "<br />".
var tag = regexp.MustCompile(`</?[a-z]+[0-9]? ?/?>`)

// oneLine returns a text without tags, on one line.
func oneLine(text string) string {
	return strings.Join(strings.Fields(tag.ReplaceAllString(text, " ")), " ")
}

// next returns what to look at after an error.
func next(err error, service string) string {
	var fault *faultError
	if errors.As(err, &fault) && fault.next != "" {
		return fault.next
	}
	return fmt.Sprintf("kolla status %[1]s; kolla logs %[1]s -errors", service)
}
