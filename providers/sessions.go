package providers

import (
	"context"
	"fmt"
	"net"
	"sync"
)

// Forwarder connects to ports of pods. A *kubernetes.Client is one.
type Forwarder interface {
	Forward(ctx context.Context, to PodPort) (net.Conn, error)
}

// Sessions has one session for all registrations with the same login to a server in pods. Several goroutines may
// use it.
type Sessions[S any] struct {
	// Values returns the values of a Secret; nil: it does not exist.
	Values func(namespace, name string) map[string][]byte
	// Open begins a session. The password is empty if its Secret has none.
	Open func(server PodServer, password string) S

	mu   sync.Mutex
	open map[string]S
}

// Value returns a value of a Secret; empty: there is none.
func (s *Sessions[S]) Value(key SecretKey) string {
	return string(s.Values(key.Namespace, key.Name)[key.Key])
}

// Of returns the session of a login.
func (s *Sessions[S]) Of(server PodServer) S {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := fmt.Sprintf("%q", []any{server.Members, server.Username, server.Password})
	if _, known := s.open[key]; !known {
		if s.open == nil {
			s.open = map[string]S{}
		}
		s.open[key] = s.Open(server, s.Value(server.Password))
	}
	return s.open[key]
}

// Close closes all sessions.
func (s *Sessions[S]) Close(closeOne func(S)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, session := range s.open {
		closeOne(session)
	}
}
