package main

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"sigs.k8s.io/yaml"
)

// object is a Kubernetes object.
type object = map[string]any

// mix has the number of objects of each kind in a hundred.
var mix = []struct {
	share int
	make  func(i int) object
}{
	{25, configMap},
	{20, deployment},
	{20, service},
	{15, secret},
	{15, serviceAccount},
	{5, budget},
}

// objectsFor makes size objects in the namespace. ConfigMaps come first. The first changed
// ConfigMaps have a different content.
func objectsFor(namespace string, size, changed int) []object {
	var objects []object
	for _, part := range mix {
		for i := range size * part.share / 100 {
			o := part.make(i)
			o["metadata"].(object)["namespace"] = namespace
			if data, ok := o["data"].(object); ok && len(objects) < changed {
				data["service.conf"] = strings.Replace(data["service.conf"].(string), "workers = 4", "workers = 5", 1)
			}
			objects = append(objects, o)
		}
	}
	return objects
}

func named(apiVersion, kind, name string) object {
	return object{
		"apiVersion": apiVersion, "kind": kind,
		"metadata": object{"name": name, "labels": object{"app.kubernetes.io/name": name, "app.kubernetes.io/part-of": "benchmark"}},
	}
}

// settings is a file of about 1.5 kB.
var settings = strings.Repeat("# What this says does not matter, how long it is does.\n[DEFAULT]\nworkers = 4\ntransport_url = rabbit://rabbitmq.openstack:5672/\nlog_file =\n", 12)

func configMap(i int) object {
	o := named("v1", "ConfigMap", fmt.Sprintf("conf-%d", i))
	o["data"] = object{"service.conf": settings}
	return o
}

func secret(i int) object {
	o := named("v1", "Secret", fmt.Sprintf("secret-%d", i))
	o["type"] = "Opaque"
	o["data"] = object{"password": base64.StdEncoding.EncodeToString(fmt.Appendf(nil, "password-%d", i)), "token": "dG9rZW4="}
	return o
}

func serviceAccount(i int) object {
	o := named("v1", "ServiceAccount", fmt.Sprintf("account-%d", i))
	o["automountServiceAccountToken"] = false
	return o
}

func service(i int) object {
	o := named("v1", "Service", fmt.Sprintf("web-%d", i))
	o["spec"] = object{
		"selector": object{"app": fmt.Sprintf("web-%d", i)},
		"ports":    []any{object{"name": "http", "port": 80, "targetPort": "http"}, object{"name": "metrics", "port": 9090, "targetPort": 9090}},
	}
	return o
}

func budget(i int) object {
	o := named("policy/v1", "PodDisruptionBudget", fmt.Sprintf("web-%d", i))
	o["spec"] = object{"minAvailable": 1, "selector": object{"matchLabels": object{"app": fmt.Sprintf("web-%d", i)}}}
	return o
}

// deployment has no pods, so that the benchmark measures the tool and not the cluster's
// controllers.
func deployment(i int) object {
	name := fmt.Sprintf("web-%d", i)
	probe := object{"httpGet": object{"path": "/healthz", "port": "http"}, "periodSeconds": 10}
	o := named("apps/v1", "Deployment", name)
	o["spec"] = object{
		"replicas": 0,
		"selector": object{"matchLabels": object{"app": name}},
		"template": object{
			"metadata": object{"labels": object{"app": name}},
			"spec": object{
				"serviceAccountName": "account-0",
				"containers": []any{object{
					"name": "api", "image": "example.org/web:1.2.3",
					"args":           []any{"--config", "/etc/service/service.conf"},
					"env":            []any{object{"name": "REGION", "value": "one"}, object{"name": "PASSWORD", "valueFrom": object{"secretKeyRef": object{"name": "secret-0", "key": "password"}}}},
					"ports":          []any{object{"name": "http", "containerPort": 8080}, object{"name": "metrics", "containerPort": 9090}},
					"resources":      object{"requests": object{"cpu": "100m", "memory": "256Mi"}, "limits": object{"memory": "512Mi"}},
					"readinessProbe": probe, "livenessProbe": probe,
					"securityContext": object{"allowPrivilegeEscalation": false, "capabilities": object{"drop": []any{"ALL"}}},
					"volumeMounts":    []any{object{"name": "config", "mountPath": "/etc/service"}, object{"name": "run", "mountPath": "/run"}},
				}},
				"volumes": []any{object{"name": "config", "configMap": object{"name": "conf-0"}}, object{"name": "run", "emptyDir": object{}}},
			},
		},
	}
	return o
}

// inputs are the same objects in the format of each tool.
type inputs struct{ dir string }

func (in inputs) json() string  { return filepath.Join(in.dir, "objects.json") }
func (in inputs) yaml() string  { return filepath.Join(in.dir, "objects.yaml") }
func (in inputs) chart() string { return filepath.Join(in.dir, "chart") }

// perFile is the number of objects in a file of kolla's, which takes files of 16 MiB.
const perFile = 5000

// mostNamed is the number of objects whose Deployments kolla's policies can name. A larger cloud has one
// Pod Security level for all pods.
const mostNamed = 10_000

// write writes the objects into a directory: as JSON, as a stream of YAML, as a chart, as resources of
// OpenTofu, and as the configuration of a cloud named after the namespace, with files of perFile
// objects.
func write(dir, namespace string, objects []object) (inputs, error) {
	in := inputs{dir: dir}
	raw, err := json.Marshal(objects)
	if err != nil {
		return in, fmt.Errorf("write the objects: %w", err)
	}
	resources := object{}
	var documents []string
	for _, o := range objects {
		name := o["kind"].(string) + "-" + o["metadata"].(object)["name"].(string)
		resources[name] = object{"manifest": o}
		text, err := yaml.Marshal(o)
		if err != nil {
			return in, fmt.Errorf("write the objects: %w", err)
		}
		documents = append(documents, "---\n"+string(text))
	}
	tofu, err := json.Marshal(object{
		"terraform": object{"required_providers": object{"kubernetes": object{"source": "hashicorp/kubernetes"}}},
		"provider":  object{"kubernetes": object{"config_path": "${pathexpand(\"~/cluster/kubeconfig\")}"}},
		"resource":  object{"kubernetes_manifest": resources},
	})
	if err != nil {
		return in, fmt.Errorf("write the objects: %w", err)
	}
	stream := strings.Join(documents, "")
	files := map[string]string{
		in.json():                                     string(raw),
		in.yaml():                                     stream,
		filepath.Join(dir, "main.tf.json"):            string(tofu),
		filepath.Join(in.chart(), "Chart.yaml"):       "apiVersion: v2\nname: benchmark\nversion: 1.0.0\n",
		filepath.Join(in.chart(), "templates/a.yaml"): stream,
	}
	var names []string
	for part := range slices.Chunk(documents, perFile) {
		name := fmt.Sprintf("objects-%d.yaml", len(names))
		files[filepath.Join(dir, name)] = strings.Join(part, "")
		names = append(names, strconv.Quote(name))
	}
	more := ""
	if len(objects) > mostNamed {
		more = "  pod_security = \"baseline\"\n"
	}
	files[filepath.Join(dir, "cloud.hcl")] = fmt.Sprintf("cloud %q {\n  release   = \"2025.1\"\n  namespace = %q\n%s}\n\nmanifest \"all\" {\n  files = [%s]\n}\n",
		namespace, namespace, more, strings.Join(names, ", "))
	for path, content := range files {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return in, fmt.Errorf("write the objects: %w", err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			return in, fmt.Errorf("write the objects: %w", err)
		}
	}
	return in, nil
}
