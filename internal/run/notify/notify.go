// Package notify sends notifications and metrics to other servers. The URLs contain secrets,
// such as tokens and passwords. So no error of this package quotes a URL, or a text of the
// library or of the server: an error names the receiver by its kind and number.
package notify

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/nicholas-fedor/shoutrrr/pkg/router"
	"github.com/nicholas-fedor/shoutrrr/pkg/types"

	"kolla.openstack.org/kolla/internal/base/crash"
	"kolla.openstack.org/kolla/internal/base/failure"
)

// patience limits each request to another server.
const patience = 15 * time.Second

// Receiver gets notifications.
type Receiver struct {
	// Name is the kind of the receiver with its number: "slack 1". It has no part of the URL
	// but its known scheme.
	Name   string
	sender *router.ServiceRouter
}

// Receivers reads the URLs of receivers, in the form of the library shoutrrr. http and https
// URLs get JSON with a title and a message. It sends no request.
func Receivers(urls []string) ([]Receiver, error) {
	var out []Receiver
	for i, text := range urls {
		kind, ok := kindOf(text)
		if !ok {
			return nil, failure.New(fmt.Sprintf("The notification URL number %d has no known service", i+1),
				fmt.Sprintf("A URL begins with its service, such as slack://, teams://, matrix://, smtp:// or https:// for a webhook. The services are: %s. The URL itself is not shown, because it may contain secrets.", strings.Join(services(), ", ")))
		}
		sender, err := router.New(log.New(io.Discard, "", 0), asService(text))
		if err != nil {
			return nil, failure.New(fmt.Sprintf("The notification URL number %d, of the service %s, is not complete", i+1, kind),
				"https://shoutrrr.nickfedor.com/ describes the URL of each service. The URL itself is not shown, because it may contain secrets.")
		}
		sender.Timeout = patience
		out = append(out, Receiver{fmt.Sprintf("%s %d", kind, i+1), sender})
	}
	return out, nil
}

// services returns the schemes that are understood, sorted.
func services() []string {
	out := append((&router.ServiceRouter{}).ListServices(), "http", "https")
	slices.Sort(out)
	return out
}

// kindOf returns the service of a URL, if it is a known one. Any other beginning may be a part of
// a secret.
func kindOf(text string) (kind string, ok bool) {
	scheme, _, found := strings.Cut(text, "://")
	kind, _, _ = strings.Cut(strings.ToLower(scheme), "+")
	return kind, found && slices.Contains(services(), kind)
}

// asService turns the URL of a webhook into the form of the library.
func asService(text string) string {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" {
		return text
	}
	query := u.Query()
	if !query.Has("template") {
		query.Set("template", "json")
	}
	u.RawQuery, u.Scheme = query.Encode(), "generic+"+u.Scheme
	return u.String()
}

// Send sends a notification. The error has no part of the URL.
func (r Receiver) Send(ctx context.Context, title, text string) error {
	done := make(chan error, 1)
	go func() {
		done <- crash.Catch(func() error {
			params := types.Params{"title": title}
			return errors.Join(r.sender.Send(text, &params)...)
		})
	}()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case err := <-done:
		if err != nil {
			return fmt.Errorf("notify %s: %w", r.Name, causeOf(err))
		}
		return nil
	}
}

// Push sends metrics to a Pushgateway, to the group of the job kolla and a cloud. With replace,
// the gateway drops all earlier metrics of the cloud. Without, it drops only earlier metrics of
// the same names. A cloud without a name has no group, because no later push would replace its
// metrics. The error has no part of the URL.
func Push(ctx context.Context, gateway, cloud, contentType string, metrics []byte, replace bool) error {
	method := http.MethodPost
	if replace {
		method = http.MethodPut
	}
	if cloud == "" {
		return errors.New("push the metrics: the name of the cloud is not known")
	}
	target, err := url.JoinPath(gateway, "metrics", "job", "kolla", "cloud", url.PathEscape(cloud))
	if err != nil {
		return errors.New("push the metrics: the URL is not valid")
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, method, target, bytes.NewReader(metrics))
	if err != nil {
		return errors.New("push the metrics: the URL is not valid")
	}
	request.Header.Set("Content-Type", contentType)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return fmt.Errorf("push the metrics: %w", causeOf(err))
	}
	defer func() { _ = response.Body.Close() }()
	_, _ = io.Copy(io.Discard, io.LimitReader(response.Body, 1<<20)) // so that the connection can end
	if response.StatusCode/100 != 2 {
		return fmt.Errorf("push the metrics: the Pushgateway answers with HTTP status %d", response.StatusCode)
	}
	return nil
}

// status matches the number of an HTTP status in the text of an error.
var status = regexp.MustCompile(`(?i)(?:status|code|response)\D{0,20}\b([45][0-9]{2})\b`)

// causes are words of errors, and the words of this package for them. The library flattens
// errors to text.
var causes = []struct{ found, said string }{
	{"connection refused", "connection refused"},
	{"connection reset", "connection reset"},
	{"no route to host", "no route to host"},
	{"network is unreachable", "the network is unreachable"},
	{"no such host", "the name of its host cannot be resolved"},
	{"server misbehaving", "the name of its host cannot be resolved"},
	{"x509:", "its certificate is not accepted"},
	{"tls:", "it does not speak TLS as expected"},
	{"timed out", "it does not answer in time"},
	{"timeout", "it does not answer in time"},
	{"deadline exceeded", "it does not answer in time"},
}

// causeOf puts an error into own words: the text of an error may quote a URL, or the answer of
// a server.
func causeOf(err error) error {
	var bug *crash.Error
	if errors.As(err, &bug) {
		return bug
	}
	if found := status.FindStringSubmatch(err.Error()); found != nil {
		return fmt.Errorf("the server answered with HTTP status %s", found[1])
	}
	for _, c := range causes {
		if strings.Contains(err.Error(), c.found) {
			return errors.New(c.said)
		}
	}
	return errors.New("it does not accept the message")
}
