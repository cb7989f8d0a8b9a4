package network

import (
	"iter"
	"slices"
	"strings"

	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/providers/openstack/internal/object"
)

// Clients maps the address of a block to the services that connect to it: services that need
// the block, and services that read the password of a database or queue on it. A service that
// got such a URL from an output of another service may not refer to the server itself.
func Clients(config *configs.Config) map[string][]*configs.Service {
	blocks := make(map[string]string, len(config.Services))
	for _, s := range config.Services {
		blocks[s.Name] = s.Block
	}
	opens := map[configs.SecretRef]string{}
	for _, s := range config.Services {
		for _, d := range s.Databases {
			opens[d.Password] = blocks[d.Server]
		}
		for _, p := range s.Provided {
			if p.Type == "queue" {
				opens[p.Password] = blocks[p.Server]
			}
		}
	}
	out := map[string][]*configs.Service{}
	for i := range config.Services {
		s := &config.Services[i]
		on := slices.Clone(s.Needs)
		for text := range texts(s) {
			for _, ref := range text.Refs() {
				ref.Within = ""
				if block := opens[ref]; block != "" && ref.Service != s.Name && !slices.Contains(on, block) {
					on = append(on, block)
				}
			}
		}
		for _, block := range on {
			out[block] = append(out[block], s)
		}
	}
	return out
}

// texts returns the texts that the pods of a service read: its config files, and the
// environment variables of its containers.
func texts(s *configs.Service) iter.Seq[configs.Text] {
	return func(yield func(configs.Text) bool) {
		for _, c := range s.Configs {
			if !yield(c.Content) {
				return
			}
			for _, o := range c.Options {
				for _, v := range o.Values {
					if !yield(v) {
						return
					}
				}
			}
		}
		for pod := range object.Pods(s) {
			env := pod.Env
			for _, init := range pod.Inits {
				env = append(slices.Clip(env), init.Env...)
			}
			for _, e := range env {
				if !yield(e.Value) {
					return
				}
			}
		}
	}
}

// later reports whether a string is not known yet.
func later(text string) bool { return strings.Contains(text, configs.KnownAfterApply) }
