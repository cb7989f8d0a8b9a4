package connect

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"strings"

	"golang.org/x/net/http2"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kolla.openstack.org/kolla/providers"
)

// maxAnswer is the largest answer of a Service that is read, in bytes.
const maxAnswer = 32 << 20

// unreached is the beginning of the API server's answer if no connection to a pod succeeds.
const unreached = "error trying to reach service: "

// Proxy sends a request to a Service through the API server, once. If the API server itself refuses
// the request, the error is a *providers.PermissionError or describes the refusal. If the request
// does not reach a pod, it is a *providers.NoAnswerError. An answer of a pod is no error, whatever
// its status.
func (c *Connection) Proxy(ctx context.Context, to providers.InternalURL, r providers.ServiceRequest) (*providers.ServiceAnswer, error) {
	target := c.Core.RESTClient().Get().Namespace(to.Namespace).Resource("services").Name(to.ProxyName()).SubResource("proxy").Suffix(to.Path, r.Path).URL()
	target.RawQuery = r.Query.Encode()
	request, err := http.NewRequestWithContext(WithVerb(Quiet(ctx), verbProxy), r.Method, target.String(), bytes.NewReader(r.Body))
	if err != nil {
		return nil, fmt.Errorf("send a request to Service %s/%s: %w", to.Namespace, to.Service, err)
	}
	maps.Copy(request.Header, r.Header)
	// A redirect would take the credentials of the cluster to wherever a pod wants.
	web := http.Client{Transport: c.web.Transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	silent := func(why string) error {
		return &providers.NoAnswerError{Namespace: to.Namespace, Service: to.Service, Why: why}
	}
	response, err := web.Do(request)
	var reset http2.StreamError
	switch {
	case errors.As(err, &reset):
		return nil, silent("its answer breaks off")
	case err != nil:
		return nil, c.describe(err)
	}
	body, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer+1))
	err = errors.Join(err, response.Body.Close())
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, fmt.Errorf("read the answer of Service %s/%s: %w", to.Namespace, to.Service, err)
	case err != nil:
		return nil, silent("its answer breaks off")
	case len(body) > maxAnswer:
		return nil, silent(fmt.Sprintf("its answer is larger than %d MiB", maxAnswer>>20))
	}
	if response.StatusCode >= http.StatusBadRequest {
		if err := c.notPassedOn(silent, body); err != nil {
			return nil, err
		}
	}
	return &providers.ServiceAnswer{Status: response.StatusCode, Header: response.Header, Body: body}, nil
}

// notPassedOn returns the error of a request that the API server answered itself. Nil: a pod did.
func (c *Connection) notPassedOn(silent func(why string) error, body []byte) error {
	if text, ok := strings.CutPrefix(string(body), unreached); ok {
		return silent(lastClause(text))
	}
	var status metav1.Status
	if json.Unmarshal(body, &status) != nil || status.Kind != "Status" {
		return nil
	}
	err := error(&apierrors.StatusError{ErrStatus: status})
	switch text, ok := strings.CutPrefix(status.Message, unreached); {
	case ok:
		return silent(lastClause(text))
	case apierrors.IsNotFound(err):
		return silent("it does not exist")
	case strings.HasPrefix(status.Message, "no endpoints available for service"):
		return silent("none of its pods is ready")
	case apierrors.IsServiceUnavailable(err):
		return silent(status.Message)
	}
	return c.describe(err)
}

// lastClause returns the cause of an error of the network, without addresses: "connection refused" of
// "dial tcp 10.244.1.7:5000: connect: connection refused".
func lastClause(text string) string {
	return strings.TrimSpace(text[strings.LastIndex(text, ": ")+1:])
}
