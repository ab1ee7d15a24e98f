"""The measurements of chapters 18–28 on full-size networks, written to results/ for the page "At full size".

    make paper MODELS=vit_b16,resnet50_bit IMAGES=folder        # python -m helpers.paper
"""
