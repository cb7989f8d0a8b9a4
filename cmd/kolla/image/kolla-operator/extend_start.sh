#!/bin/bash

# Outside of a pod, config.json brings the kubeconfig. In a pod, the service account is enough.
if [[ -f /etc/kolla-operator/kubeconfig ]]; then
    export KUBECONFIG=/etc/kolla-operator/kubeconfig
fi
