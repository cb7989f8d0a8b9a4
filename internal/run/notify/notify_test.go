package notify_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"kolla.openstack.org/kolla/internal/run/notify"
)

const secret = "T0pSecretToken"

// received is a request that a server got.
type received struct{ method, path, query, user, contentType, body string }

// server answers with a status, and quotes the request in its answer.
func server(t *testing.T, status int) (url string, got *[]received) {
	t.Helper()
	got = &[]received{}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		user, password, _ := r.BasicAuth()
		*got = append(*got, received{r.Method, r.URL.Path, r.URL.RawQuery, user + ":" + password, r.Header.Get("Content-Type"), string(body)})
		w.WriteHeader(status)
		fmt.Fprintf(w, "%s %s", r.URL, body)
	}))
	t.Cleanup(s.Close)
	return s.URL, got
}

func TestSend(t *testing.T) {
	url, got := server(t, http.StatusOK)
	receivers, err := notify.Receivers([]string{url + "/hooks/" + secret + "?channel=ops&sig=a%2Fb%3D"})
	if err != nil || len(receivers) != 1 || receivers[0].Name != "http 1" {
		t.Fatal(receivers, err)
	}
	if err := receivers[0].Send(t.Context(), "drift of prod", "a \"field\"\nand another"); err != nil {
		t.Fatal(err)
	}
	if len(*got) != 1 || (*got)[0].method != http.MethodPost || (*got)[0].path != "/hooks/"+secret || (*got)[0].query != "channel=ops&sig=a%2Fb%3D" {
		t.Fatalf("the server got %+v", *got)
	}
	var body map[string]string
	if err := json.Unmarshal([]byte((*got)[0].body), &body); err != nil || body["title"] != "drift of prod" || body["message"] != "a \"field\"\nand another" || body["text"] != "drift of prod\na \"field\"\nand another" {
		t.Errorf("the server got %s: %v", (*got)[0].body, err)
	}
}

// mailbox is an SMTP server that accepts one message. It answers a command with the status in
// refused, if there is one.
func mailbox(t *testing.T, refused map[string]string) (address string, letter <-chan string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	got := make(chan string, 1)
	go func() {
		connection, err := listener.Accept()
		if err != nil {
			return
		}
		defer connection.Close()
		var said strings.Builder
		say := func(line string) { fmt.Fprintf(connection, "%s\r\n", line) }
		say("220 mailbox")
		for in, data := bufio.NewScanner(connection), false; in.Scan(); {
			line := in.Text()
			said.WriteString(line + "\n")
			command, _, _ := strings.Cut(line, " ")
			switch answer := refused[command]; {
			case data && line != ".":
			case answer != "":
				say(answer)
			case command == "EHLO":
				say("250-mailbox")
				say("250 AUTH PLAIN")
			case command == "AUTH":
				say("235 welcome")
			case command == "DATA":
				data = true
				say("354 go on")
			case command == "QUIT":
				say("221 bye")
				got <- said.String()
			default:
				data = false
				say("250 well")
			}
		}
	}()
	return listener.Addr().String(), got
}

func TestMail(t *testing.T) {
	address, letter := mailbox(t, nil)
	receivers, err := notify.Receivers([]string{"smtp://user:" + secret + "@" + address + "/?from=kolla@example.org&to=ops@example.org,on-call@example.org"})
	if err != nil || receivers[0].Name != "smtp 1" {
		t.Fatal(receivers, err)
	}
	if err := receivers[0].Send(t.Context(), "drift of prod: ü", "a field\n.and another"); err != nil {
		t.Fatal(err)
	}
	got := <-letter
	for _, want := range []string{
		"AUTH PLAIN ", "MAIL FROM:<kolla@example.org>", "RCPT TO:<ops@example.org>\nRCPT TO:<on-call@example.org>\n",
		"\nTo: ops@example.org, on-call@example.org\n", "\nSubject: =?utf-8?q?drift_of_prod:_=C3=BC?=\n", "\n\na field\n..and another\n.\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in:\n%s", want, got)
		}
	}
	for command, want := range map[string]string{"AUTH": "SMTP status 535", "RCPT": "SMTP status 550", "EHLO": "SMTP status 554"} {
		address, _ := mailbox(t, map[string]string{command: strings.TrimPrefix(want, "SMTP status ") + " " + secret, "HELO": "554 " + secret})
		receivers, err := notify.Receivers([]string{"smtp://user:" + secret + "@" + address + "/?from=kolla@example.org&to=ops@example.org"})
		if err != nil {
			t.Fatal(err)
		}
		if err := receivers[0].Send(t.Context(), "title", "text"); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), secret) {
			t.Errorf("%s refused: %v, want %q", command, err, want)
		}
	}
}

// TestErrorsHaveNoSecrets checks that no error contains a part of a URL.
func TestErrorsHaveNoSecrets(t *testing.T) {
	refusing, _ := server(t, http.StatusForbidden)
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	gone := closed.Addr().String()
	if err := closed.Close(); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		secret:                                     "number 1 cannot be used",
		secret + "://hook":                         "number 1 cannot be used",
		"slack://" + secret + "/x":                 "begins with https:// or http:// for a webhook",
		"https://" + secret + "\x7f@example.org":   "a URL with a host",
		"smtp://user:" + secret + "@" + gone:       "needs the addresses",
		refusing + "/" + secret:                    "notify http 1: the server answered with HTTP status 403",
		"http://user:" + secret + "@" + gone + "/": "notify http 1: connection refused",
		"smtp://user:" + secret + "@" + gone + "/?from=a@example.org&to=b@example.org": "notify smtp 1: connection refused",
	} {
		receivers, err := notify.Receivers([]string{text})
		if err == nil {
			err = receivers[0].Send(t.Context(), "title", "text")
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
			continue
		}
		if strings.Contains(err.Error(), secret) || strings.Contains(err.Error(), gone) {
			t.Errorf("the error quotes the URL: %v", err)
		}
	}
	for gateway, want := range map[string]string{
		refusing + "/" + secret:                    "HTTP status 403",
		"http://user:" + secret + "@" + gone + "/": "connection refused",
		"http://" + secret + "\x7f/":               "the URL is not valid",
	} {
		err := notify.Push(t.Context(), gateway, "prod", "text/plain", []byte("x"), true)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), secret) {
			t.Errorf("%q: %v, want %q", gateway, err, want)
		}
	}
}

func TestPush(t *testing.T) {
	url, got := server(t, http.StatusAccepted)
	for _, push := range []struct {
		gateway string
		replace bool
	}{
		{url, true},
		{url + "/", false},
		{strings.Replace(url, "://", "://kolla:"+secret+"@", 1) + "/push//?via=proxy", true},
	} {
		if err := notify.Push(t.Context(), push.gateway, "a b", "text/plain", []byte("m 1\n"), push.replace); err != nil {
			t.Fatal(err)
		}
	}
	want := []received{
		{"PUT", "/metrics/job/kolla/cloud/a b", "", ":", "text/plain", "m 1\n"},
		{"POST", "/metrics/job/kolla/cloud/a b", "", ":", "text/plain", "m 1\n"},
		{"PUT", "/push/metrics/job/kolla/cloud/a b", "via=proxy", "kolla:" + secret, "text/plain", "m 1\n"},
	}
	if fmt.Sprint(*got) != fmt.Sprint(want) {
		t.Errorf("the gateway got %+v", *got)
	}
	err := notify.Push(t.Context(), url, "", "text/plain", []byte("m 1\n"), false)
	if err == nil || !strings.Contains(err.Error(), "the name of the cloud is not known") || len(*got) != len(want) {
		t.Errorf("without a name: %v, and the gateway got %+v", err, *got)
	}
}

func TestSendEndsWithItsContext(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	for _, text := range []string{"http://" + silent.Addr().String() + "/", "smtp://" + silent.Addr().String() + "/?from=a@example.org&to=b@example.org"} {
		receivers, err := notify.Receivers([]string{text})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		if err := receivers[0].Send(ctx, "title", "text"); err == nil || !strings.Contains(err.Error(), "it does not answer in time") {
			t.Errorf("%s: %v", receivers[0].Name, err)
		}
	}
}
