package connect

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kolla.openstack.org/kolla/providers"
)

// UnreachableError reports that the server cannot be reached.
type UnreachableError struct {
	Server string // URL
	Err    error  // of the network, of TLS, or of the command that gives credentials
}

func (e *UnreachableError) Error() string {
	return fmt.Sprintf("cannot reach %s: %v", e.Server, e.Err)
}

func (e *UnreachableError) Unwrap() error { return e.Err }

// UnservedError reports a server that answers, but not as an API server should, to the first and
// simplest requests.
type UnservedError struct {
	Server string // URL
	// Code is the status of the answer. It is 0 if the answer does not come from an API server.
	Code int32
	Err  error
}

func (e *UnservedError) Error() string { return e.Err.Error() }

func (e *UnservedError) Unwrap() error { return e.Err }

// unserved makes an *UnservedError from the error of a first request, unless the error itself
// explains the problem.
func (c *Connection) unserved(err error) error {
	var (
		unreachable *UnreachableError
		permission  *providers.PermissionError
		answer      apierrors.APIStatus
	)
	switch {
	case errors.As(err, &unreachable), errors.As(err, &permission), errors.Is(err, context.Canceled):
		return err
	case !errors.As(err, &answer):
		return &UnservedError{Server: c.server, Err: err}
	case answer.Status().Code == http.StatusUnauthorized:
		return err
	}
	return &UnservedError{Server: c.server, Code: answer.Status().Code, Err: err}
}

// refusal matches the message with which every API server refuses permission. The details of
// the status contain neither verb nor user. The quoted parts are Go strings.
var refusal = regexp.MustCompile(`User ("(?:[^"\\]|\\.)*") cannot (\S+) resource ("[^"]*") in API group ("[^"]*") (?:in the namespace ("[^"]*")|at the cluster scope)`)

// denied makes a *providers.PermissionError from a refusal by the authorizer. It does not change
// other kinds of 403 (admission, quota).
func denied(err error) error {
	match := refusal.FindStringSubmatch(err.Error())
	if match == nil {
		return err
	}
	return &providers.PermissionError{
		User:      unquote(match[1]),
		Verb:      match[2],
		Resource:  unquote(match[3]),
		Group:     unquote(match[4]),
		Namespace: unquote(match[5]),
		Err:       err,
	}
}

func unquote(quoted string) string {
	if text, err := strconv.Unquote(quoted); err == nil {
		return text
	}
	return strings.Trim(quoted, `"`)
}

// ConflictOf makes a *providers.ConflictError from a conflict with the fields of other managers. It
// returns nil for any other error.
func ConflictOf(ref providers.Ref, err error) *providers.ConflictError {
	var answer apierrors.APIStatus
	if !errors.As(err, &answer) || answer.Status().Details == nil {
		return nil
	}
	conflict := &providers.ConflictError{Ref: ref}
	for _, cause := range answer.Status().Details.Causes {
		if cause.Type == metav1.CauseTypeFieldManagerConflict {
			conflict.Conflicts = append(conflict.Conflicts, providers.Conflict{Manager: managerOf(cause.Message), Path: cause.Field})
		}
	}
	if len(conflict.Conflicts) == 0 {
		return nil
	}
	return conflict
}

// managerOf finds the manager in the message of a cause, such as
//
//	conflict with "kubectl" with subresource "scale" using apps/v1 at 2026-11-21T02:11:00Z
//
// The name is a Go string. A message of another shape is returned whole.
func managerOf(message string) string {
	_, rest, ok := strings.Cut(message, `conflict with `)
	if !ok {
		return message
	}
	quoted, err := strconv.QuotedPrefix(rest)
	if err != nil {
		return message
	}
	return unquote(quoted)
}

// isCertificateTrouble reports whether TLS is the reason why the server cannot be reached.
func isCertificateTrouble(err error) bool {
	var (
		verification *tls.CertificateVerificationError
		authority    x509.UnknownAuthorityError
		host         x509.HostnameError
		invalid      x509.CertificateInvalidError
		alert        tls.AlertError
		header       tls.RecordHeaderError
	)
	return errors.As(err, &verification) || errors.As(err, &authority) || errors.As(err, &host) ||
		errors.As(err, &invalid) || errors.As(err, &alert) || errors.As(err, &header) ||
		strings.Contains(err.Error(), plainHTTP)
}

// plainHTTP is the message of net/http, which has no type for this error.
const plainHTTP = "server gave HTTP response to HTTPS client"
